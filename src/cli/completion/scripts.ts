/** The hidden command by which the scripts below ask ralph how an unfinished command line can go on. */
export const SUGGEST_COMMAND = '__complete';

/**
 * The scripts with which shells complete command lines of ralph. Each line of ralph's answer is a word, with a tab and
 * a description after it, or says that any path fits: `:files`, `:folders`.
 */
const SCRIPTS = {
  // macOS still ships bash 3.2.
  bash: `# Completion of ralph for bash. To enable it in every shell, add this to ~/.bashrc:
#   eval "$(ralph completion bash)"

_ralph_paths() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen "$1" -- "$current"))
  type compopt >/dev/null 2>&1 && compopt -o filenames 2>/dev/null
}

_ralph() {
  local current="\${COMP_WORDS[COMP_CWORD]}" word description
  COMPREPLY=()
  # bash splits "--agent=command" into three words.
  [[ $current == "=" ]] && current=""
  while IFS=$'\\t' read -r word description; do
    case $word in
      :files) _ralph_paths -f ;;
      :folders) _ralph_paths -d ;;
      "$current"*) COMPREPLY+=("$word") ;;
    esac
  done < <(command ralph ${SUGGEST_COMMAND} "\${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
}

complete -F _ralph ralph
`,
  zsh: `#compdef ralph
# Completion of ralph for zsh. To enable it in every shell, add this to ~/.zshrc, after compinit:
#   source <(ralph completion zsh)

_ralph() {
  local line
  local -a found
  for line in "\${(@f)$(command ralph ${SUGGEST_COMMAND} "\${(@Q)words[1,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files) compset -P '--*='; _files ;;
      :folders) compset -P '--*='; _files -/ ;;
      *) found+=("\${\${line//:/\\\\:}/$'\\t'/:}") ;;
    esac
  done
  (( $#found )) && _describe ralph found
}

if [[ $funcstack[1] == _ralph ]]; then
  _ralph "$@"
else
  compdef _ralph ralph
fi
`,
  fish: `# Completion of ralph for fish. To enable it in every shell:
#   ralph completion fish > ~/.config/fish/completions/ralph.fish

function __ralph_complete
    set -l typed (commandline -ct)
    set -l flag (string match -r -- '^--[^=]+=' "$typed")
    set -l path (string replace -- "$flag" '' "$typed")
    for line in (command ralph ${SUGGEST_COMMAND} (commandline -opc) "$typed" 2>/dev/null)
        switch $line
            case ':files'
                # fish completes files after a command that it does not know, also quoted ones and those in ~.
                printf "$flag%s\\n" (complete -C "__ralph_no_command $path")
            case ':folders'
                printf "$flag%s\\n" (__fish_complete_directories "$path")
            case '*'
                echo $line
        end
    end
end

complete -c ralph -f -a '(__ralph_complete)'
`,
};

export type Shell = keyof typeof SCRIPTS;

export const SHELLS = Object.keys(SCRIPTS);

/** `ralph completion SHELL`: prints the script for a shell. */
export function completion(shell: Shell): number {
  process.stdout.write(SCRIPTS[shell]);
  return 0;
}
