/**
 * The spelling of record contents by a PowerDNS; it rejects any other (powerdns.md §4). In all other places contents
 * are in standard presentation format, as the API shows them.
 */
export interface Spelling {
  /** True if it reads escapes unchanged. PowerDNS 5.1 first removes a level of them. */
  keepsEscapes: boolean
  /** True if it calculates the angles of LOC exactly. PowerDNS before 5.0 uses doubles, and 0 is south or west. */
  exactAngles: boolean
  /** True if it has names for more types in CSYNC, and for more parameters of SVCB, as PowerDNS 5.1 does. */
  namesMore: boolean
}

/** The spelling of each version, the newest last. */
const VERSIONS: [version: string, Spelling][] = [
  ['4', { keepsEscapes: true, exactAngles: false, namesMore: false }],
  ['5.0', { keepsEscapes: true, exactAngles: true, namesMore: false }],
  ['5.1', { keepsEscapes: false, exactAngles: true, namesMore: true }],
]

/** The newest known spelling, and its version. */
export const [NEWEST_VERSION, NEWEST_SPELLING] = VERSIONS.at(-1)!

/** Returns the spelling of this version; undefined: not known. */
export function spellingOf(version: string): Spelling | undefined {
  return VERSIONS.find(([known]) => version.startsWith(`${known}.`))?.[1]
}

/** The names of any octets in the contents of each type that has some. */
const NAMES: Record<string, RegExp> = {
  PTR: /.+/,
  DNAME: /.+/,
  RP: /.+/,
  AFSDB: /.+/,
  KX: /.+/,
  LP: /.+/,
  NAPTR: /(?<= )\S+$/,
  SVCB: /(?<= )\S+/,
  HTTPS: /(?<= )\S+/,
}

/** The types of records that PowerDNS names, unlike the standard format here. */
const TYPES = new Map([
  ['TYPE65401', 'ALIAS'],
  ['TYPE65402', 'LUA'],
])
const MORE_TYPES = new Map([
  ...TYPES,
  ['TYPE67', 'HHIT'],
  ['TYPE68', 'BRID'],
  ['TYPE261', 'RESINFO'],
  ['TYPE262', 'WALLET'],
])
const STANDARD_TYPES = new Map([...MORE_TYPES].map(([number, name]) => [name, number]))

/** The parameters of SVCB that PowerDNS names, as "mandatory" lists them. */
const PARAMETERS = new Map([
  ['key7', 'dohpath'],
  ['key8', 'ohttp'],
])

/** Converts a content to PowerDNS' spelling. */
export function spell(type: string, content: string, { keepsEscapes, exactAngles, namesMore }: Spelling): string {
  let text = content
  if (type === 'LOC' && !exactAngles) text = withDoubles(text)
  if (type === 'CSYNC') text = withWords(text, namesMore ? MORE_TYPES : TYPES)
  if ((type === 'SVCB' || type === 'HTTPS') && namesMore) text = withNamedParameters(text)
  if (!text.includes('\\')) return text
  return keepsEscapes ? withNames(type, text, bare) : escapedAgain(text)
}

/** Converts a content from PowerDNS' spelling to the standard format. */
export function standard(type: string, content: string): string {
  if (type === 'LOC') return content.replace(/([0-9]+) 60\.000/g, (_, minutes) => `${Number(minutes) + 1} 0.000`)
  if (type === 'CSYNC') return withWords(content, STANDARD_TYPES)
  return withNames(type, content, escaped)
}

function withWords(content: string, words: ReadonlyMap<string, string>): string {
  return content.replace(/[A-Za-z0-9]+/g, (word) => words.get(word) ?? word)
}

/** Changes the names in a content. In them PowerDNS escapes only backslashes and dots, unlike the standard format. */
function withNames(type: string, content: string, change: (names: string) => string): string {
  const names = NAMES[type]
  return names === undefined ? content : content.replace(names, change)
}

function bare(names: string): string {
  return names.replace(/\\([^])/g, (escape, char: string) => ('"();@$'.includes(char) ? char : escape))
}

function escaped(names: string): string {
  return names.replace(/\\[^]|["();@$]/g, (match) => (match.length === 1 ? `\\${match}` : match))
}

/**
 * Adds one more level of escapes. A character that the standard format escapes only because it is special in a zone
 * file is escaped for this level, not for PowerDNS' own.
 */
function escapedAgain(content: string): string {
  return content.replace(/"((?:[^"\\]|\\[^])*)"|\\([^])/g, (match, string?: string, char?: string) => {
    if (string !== undefined) return `"${string.replace(/["\\]/g, '\\$&')}"`
    return '"();@$'.includes(char!) ? match : match.replaceAll('\\', '\\\\')
  })
}

/** Writes the parameters 7 and 8 by name. Quotes in values are escaped, so the texts are found only outside of them. */
function withNamedParameters(content: string): string {
  return content
    .replace(/(?<=^[0-9]+ \S+ mandatory=)\S+/, (keys) => withWords(keys, PARAMETERS))
    .replace(' key7="', ' dohpath="')
    .replace(' key8=""', ' ohttp')
}

/** Calculates the angles of LOC as PowerDNS does: 47' may become 46' 60.000" (PowerDNS issue 10558). */
function withDoubles(content: string): string {
  const angle = /([0-9]+) ([0-9]+) ([0-9]+)\.([0-9]{3}) ([NESW])/g
  return content.replace(angle, (_, d: string, m: string, s: string, thousandths: string, hemisphere: string) => {
    const degrees = (3_600_000 * Number(d) + 60_000 * Number(m) + Number(s + thousandths)) / 3_600_000
    const minutes = 60 * (degrees % 1)
    const parts = [Math.trunc(degrees), Math.trunc(minutes), (60 * (minutes % 1)).toFixed(3)]
    const opposite = hemisphere === 'N' ? 'S' : 'W'
    return `${parts.join(' ')} ${degrees === 0 ? opposite : hemisphere}`
  })
}
