import { Argument, type Command } from 'commander'

/** A word that can follow a command, and its meaning. */
interface Word {
  word: string
  meaning: string
}

/** The words that can follow each command, by its path, such as `domain list`; that of the program is empty. */
type Words = [path: string, words: Word[]][]

/** The scripts by shell; each is made of the words of all commands. */
const SCRIPTS = { bash, zsh, fish }

/** Adds the command that prints the completion script of a shell. @param print gets the script */
export function addCompletion(program: Command, print: (script: string) => void): void {
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .action((shell: keyof typeof SCRIPTS) => {
      print(SCRIPTS[shell](wordsOf(program, '')))
    })
}

function wordsOf(command: Command, path: string): Words {
  const help = command.createHelp()
  const commands = help.visibleCommands(command)
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]
  const words = [
    ...commands.map((each) => ({ word: each.name(), meaning: each.description() })),
    ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices.map((word) => ({ word, meaning: '' }))),
    ...options.map(({ long, description }) => ({ word: long!, meaning: description })),
  ]
  const below = commands.filter((each) => each.name() !== 'help')
  return [[path, words], ...below.flatMap((each) => wordsOf(each, `${path} ${each.name()}`.trim()))]
}

/** Quotes a text for the shells: all three read it the same way. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '').replaceAll("'", '’')}'`
}

/** A function of bash and zsh that prints what can follow a command, a word with its meaning on each line. */
function caseOf(words: Words, between: string): string {
  const branches = words.map(([path, some]) => {
    const lines = some.map(({ word, meaning }) => quoted(`${word}${between}${meaning}`))
    return `    ${quoted(path)}) printf '%s\\n' ${lines.join(' ')} ;;`
  })
  return `_zoneplane_words() {\n  case "$1" in\n${branches.join('\n')}\n  esac\n}`
}

function bash(words: Words): string {
  return `# bash completion for zoneplane
${caseOf(words, ':')}

_zoneplane() {
  local at='' i word
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word != -* ]] && _zoneplane_words "$at" | cut -d: -f1 | grep -qxF -- "$word"; then
      at=\${at:+$at }$word
    fi
  done
  COMPREPLY=($(compgen -W "$(_zoneplane_words "$at" | cut -d: -f1)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}

complete -o default -F _zoneplane zoneplane
`
}

function zsh(words: Words): string {
  return `#compdef zoneplane
${caseOf(words, ':')}

_zoneplane() {
  local at='' word
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ $word != -* ]] && _zoneplane_words "$at" | cut -d: -f1 | grep -qxF -- "$word"; then
      at=\${at:+$at }$word
    fi
  done
  found=("\${(@f)$(_zoneplane_words "$at")}")
  _describe zoneplane found || _files
}

if [[ $funcstack[1] == _zoneplane ]]; then
  _zoneplane "$@"
else
  compdef _zoneplane zoneplane
fi
`
}

function fish(words: Words): string {
  const branches = words.map(([path, some]) => {
    const lines = some.map(({ word, meaning }) => `${quoted(word)} ${quoted(meaning)}`)
    return `    case ${quoted(path)}\n      printf '%s\\t%s\\n' ${lines.join(' ')}`
  })
  return `# fish completion for zoneplane
function __zoneplane_words
  switch "$argv"
${branches.join('\n')}
  end
end

function __zoneplane_at
  set -l at
  for word in (commandline -opc)[2..-1]
    if not string match -q -- '-*' $word; and contains -- $word (__zoneplane_words $at | string replace -r '\\t.*' '')
      set at $at $word
    end
  end
  __zoneplane_words $at
end

complete -c zoneplane -a '(__zoneplane_at)'
`
}
