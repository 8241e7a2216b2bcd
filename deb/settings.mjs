// `npm run settings` writes what is made of rows: the lists of settings in docs/configuration.md, docker-compose.yml,
// deb/zoneplane.env and the chart, and docs/asvs.md; and the alerts, a second time, for the chart.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { format } from 'prettier'
import { GROUPS } from '../build/src/settings/settings.js'
import { asvs } from './asvs.mjs'

const PROJECT = new URL('..', import.meta.url)
const OPTIONS = JSON.parse(readFileSync(new URL('.prettierrc.json', PROJECT), 'utf8'))

const CHART = 'deploy/helm/zoneplane'

/** The settings that the chart itself sets. The secrets are in Secrets. */
const OF_CHART = ['PDNS_API_URL', 'PORT', 'DNS_UPDATE_HOST', 'DNS_UPDATE_PORT', 'METRICS_PORT']

/** The settings of a service whose servers are not private, by group. */
const own = Object.entries(GROUPS).filter(([group]) => !['Private servers', 'Tests'].includes(group))

/** The names of the secrets, which files can hold instead. */
const secrets = own
  .flatMap(([, settings]) => Object.values(settings).filter(({ isSecret }) => isSecret))
  .map(({ name }) => name)

/** The lists, as the contents of files by their paths. */
export async function lists() {
  const document = await format(configuration(), { ...OPTIONS, parser: 'markdown' })
  return {
    'docs/configuration.md': document,
    'docs/asvs.md': asvs(),
    'docker-compose.yml': compose(readFileSync(new URL('docker-compose.yml', PROJECT), 'utf8')),
    'deb/zoneplane.env': environment(),
    [`${CHART}/values.schema.json`]: await format(
      chartValues(JSON.parse(readFileSync(new URL(`${CHART}/values.schema.json`, PROJECT), 'utf8'))),
      { ...OPTIONS, parser: 'json' },
    ),
    // A chart contains all that its templates read.
    [`${CHART}/files/alerts.yml`]: readFileSync(new URL('docs/monitoring/alerts.yml', PROJECT), 'utf8'),
  }
}

function configuration() {
  const sections = Object.entries(GROUPS).map(([group, settings]) => {
    const rows = Object.values(settings).map(
      ({ name, usual, meaning }) => `| \`${name}\` | ${marked(usual)} | ${marked(meaning)} |`,
    )
    return `## ${group}\n\n| Variable | Default | Meaning |\n| --- | --- | --- |\n${rows.join('\n')}\n`
  })
  return `# Settings

All settings are environment variables. Zoneplane checks them at start, and reports all problems together. It logs a
warning for a variable whose name looks like a misspelt setting. \`zoneplane help settings\` prints this list.

A secret can be in a file instead, whose path is in the variable with \`_FILE\` after its name, such as
\`PDNS_API_KEY_FILE=/run/secrets/pdns\`. A line break at the end of the file does not count. These are the secrets:
${secrets.map((name) => `\`${name}\``).join(', ')}.

With systemd, such a file is a credential, which only root and the service can read. \`systemctl edit zoneplane\`:

    [Service]
    LoadCredential=pdns-api-key:/etc/zoneplane/pdns-api-key
    Environment=PDNS_API_KEY_FILE=%d/pdns-api-key

${sections.join('\n')}`
}

/** Markdown of a text: what is in quotes and names of variables are code, paths of documents are links. */
function marked(text) {
  return text
    .replaceAll(/"([^"]+)"|\b([A-Z]+_[A-Z_]+)\b/g, (_, quoted, name) => `\`${quoted ?? name}\``)
    .replaceAll(/docs\/(\S+\.md)/g, (_, path) => `[${path.split('/').at(-1)}](${path})`)
}

/** The file with a line for each setting that its API does not have above the comment that marks them. */
function compose(text) {
  const [, before, mark, after] = /^(.*?)( +# Set by `\.env`[^\n]*\n)(?: +[A-Z_]+: \$\{[A-Z_]+:-\}\n)*(.*)$/s.exec(text)
  const lines = own
    .flatMap(([, settings]) => Object.values(settings))
    .filter(({ name }) => !new RegExp(`^      ${name}: `, 'm').test(before))
    .flatMap(({ name, isSecret }) => (isSecret ? [name, `${name}_FILE`] : [name]))
    .map((name) => `      ${name}: \${${name}:-}\n`)
  return `${before}${mark}${lines.join('')}${after}`
}

/** The schema of the chart's values, with the settings that these can have. */
function chartValues(schema) {
  const rows = own
    .flatMap(([, settings]) => Object.values(settings))
    .filter(({ name, isSecret }) => !isSecret && !OF_CHART.includes(name))
    .map(({ name, meaning }) => [name, { type: 'string', description: meaning }])
  schema.properties.settings.properties = Object.fromEntries(rows)
  return JSON.stringify(schema)
}

function environment() {
  const sections = own.map(([group, settings]) => {
    const entries = Object.values(settings).map(({ name, usual, meaning }) => {
      const [, text = ''] = /^"([^"]*)"$/.exec(usual) ?? []
      const comment = text === '' ? `${meaning}. Default: ${usual}` : meaning
      return `${comment.replace(/(.{1,118})( |$)/g, '# $1\n')}#${name}=${text}\n`
    })
    return `\n## ${group}\n\n${entries.join('\n')}`
  })
  return `# The settings of zoneplane.service. After a change: systemctl restart zoneplane
# Only root and the user zoneplane can read this file.
# Required: DATABASE_URL, PDNS_API_URL, PDNS_API_KEY, NAMESERVERS and KEY_ENCRYPTION_KEYS.
# A secret can be in a file instead, such as PDNS_API_KEY_FILE=/etc/zoneplane/pdns-api-key, which the user zoneplane can read.
# /usr/share/doc/zoneplane/docs/operators/install.md describes the database and the setup of PowerDNS.
${sections.join('')}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of Object.entries(await lists())) writeFileSync(new URL(path, PROJECT), text)
}
