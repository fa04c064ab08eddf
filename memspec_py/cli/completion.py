"""``memspec completion``."""

from __future__ import annotations

import click

from memspec_py.cli.completing import SHELLS, VARIABLE

_BASH = """\
# Completion of memspec for bash. In ~/.bashrc: eval "$(memspec completion bash)"
_memspec() {
    local line kind value typed=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    while IFS= read -r line; do
        kind=${line%%$'\\t'*}
        value=${line#*$'\\t'}
        case $kind in
            plain) COMPREPLY+=("$value") ;;
            dir) compopt -o dirnames 2>/dev/null || COMPREPLY+=($(compgen -d -- "$typed")) ;;
            file) compopt -o default 2>/dev/null || COMPREPLY+=($(compgen -f -- "$typed")) ;;
        esac
    done < <(COMP_TYPE=$COMP_TYPE VARIABLE=bash "${1/#\\~/$HOME}" \\
        "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o nosort -F _memspec memspec 2>/dev/null || complete -F _memspec memspec
"""
_ZSH = """\
#compdef memspec
# Completion of memspec for zsh. In ~/.zshrc, after compinit: eval "$(memspec completion zsh)"
_memspec() {
    local line kind rest
    local -a plain
    while IFS= read -r line; do
        kind=${line%%$'\\t'*}
        rest=${line#*$'\\t'}
        case $kind in
            plain) plain+=("${${rest%%$'\\t'*}//:/\\\\:}:${rest#*$'\\t'}") ;;
            dir) _path_files -/ ;;
            file) _files ;;
        esac
    done < <(VARIABLE=zsh ${~words[1]} "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)
    (( $#plain )) && _describe -V memspec plain
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _memspec "$@"
else
    compdef _memspec memspec
fi
"""
_FISH = """\
# Completion of memspec for fish: memspec completion fish > ~/.config/fish/completions/memspec.fish
function __memspec_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    for line in (env VARIABLE=fish $words[1] $words[2..-1] "$typed" 2>/dev/null)
        set -l parts (string split \\t -- $line)
        switch $parts[1]
            case plain
                string join \\t -- $parts[2..-1]
            case dir
                __fish_complete_directories "$typed"
            case file
                __fish_complete_path "$typed"
        end
    end
end
complete -k -c memspec -f -a '(__memspec_complete)'
"""
_SCRIPTS = dict(zip(SHELLS, (_BASH, _ZSH, _FISH), strict=True))


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the completion script for a shell.

    It completes commands, options, their values, the ids of records with their titles, and the
    names of layers, scopes and profiles.

    \b
    Example:
      eval "$(memspec completion bash)"
      memspec completion fish > ~/.config/fish/completions/memspec.fish
    """
    click.echo(_SCRIPTS[shell].replace("VARIABLE", VARIABLE), nl=False)
