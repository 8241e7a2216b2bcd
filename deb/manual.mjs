import { ENVIRONMENT, run } from '../build/src/cli/run.js'
import { settingsText } from '../build/src/cli/settings.js'

/** The manual page, in the language of man(7), made of the output of `--help`. */
export async function manual({ version, description }) {
  const [, commands] = (await help()).split('\nCommands:\n')
  const sections = []
  for (const name of namesIn(commands)) sections.push(...(await sectionsOf(name)))
  return [
    `.TH ZONEPLANE 1 "" "zoneplane ${version}"`,
    '.SH NAME',
    `zoneplane \\- ${quote(description)}`,
    '.SH SYNOPSIS',
    ...verbatim('zoneplane [--json] COMMAND [ARGUMENT...]\nzoneplane [COMMAND] --help'),
    '.SH COMMANDS',
    ...sections,
    '.SH ENVIRONMENT',
    ...verbatim(ENVIRONMENT.trim()),
    ...verbatim(settingsText()),
    '.SH FILES',
    ...verbatim('/etc/zoneplane/zoneplane.env: the settings of zoneplane.service, and of the commands of its readers'),
    ...verbatim('/usr/share/doc/zoneplane/docs/operators/README.md: the guide for operators'),
    '',
  ].join('\n')
}

/** A command's help, and those of the commands in it. */
async function sectionsOf(...command) {
  const text = await help(...command)
  const [, inner = ''] = text.split('\nCommands:\n')
  const sections = [`.SS zoneplane ${command.map(quote).join(' ')}`, ...verbatim(text.replace(ENVIRONMENT, '').trim())]
  for (const name of namesIn(inner)) sections.push(...(await sectionsOf(...command, name)))
  return sections
}

/** The names of the commands in a list of them, but for `help`. */
function namesIn(list) {
  return [...list.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name]) => name).filter((name) => name !== 'help')
}

async function help(...command) {
  return printed(...command, '--help')
}

/** What a command prints that needs no servers. */
export async function printed(...args) {
  let text = ''
  const output = { writeOut: (part) => (text += part), getOutHelpWidth: () => 76, getOutHasColors: () => false }
  await run(args, { version: '' }, output)
  return text
}

function verbatim(text) {
  return ['.EX', ...text.split('\n').map(quote), '.EE']
}

function quote(text) {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/, '\\&$&')
}
