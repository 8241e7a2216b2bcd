import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hasAll } from '../../../src/private-servers/packages.ts'
import { depth } from '../depth.ts'
import { Random } from '../random.ts'
import { newFolder } from '../servers/folders.ts'
import type { Server } from './dns.ts'
import { query } from './wire.ts'

const run = promisify(execFile)

/**
 * A validating resolver that asks only this server and trusts only this DS.
 * @param ds contents of the zone's DS records
 * @returns `fully validated` or `negative response, fully validated` if all of the answer is proven; else `unsigned
 * answer`, `negative response, unsigned answer`, or why there is no answer, such as `failed: broken trust chain`. A
 * referral, or an alias of a name on another server, is not an answer.
 */
type Validator = (server: Server, zone: string, ds: string[], name: string, type: string) => Promise<string>

/** Milliseconds that every validator waits for an answer, at least: an earlier failure has another reason. */
const LATE = 5_000

/** How often a validator is asked at most, if the answers may have come too late each time. */
const ATTEMPTS = 10

/** Of how many questions one goes to delv, too, chosen at random: it takes three times as long as unbound. */
const FOR_BOTH = depth(4, 1)

const random = new Random()

/**
 * Whether unbound is asked. Where a wildcard answers for a name that itself begins with `*`, unbound 1.17 calculates
 * the signed name wrongly, and says BOGUS; delv validates it.
 */
function asksUnbound(name: string): boolean {
  return hasUnbound() && !name.startsWith('*.')
}

/** The verdict of unbound; that of both validators for some questions, for failures, and where unbound is not asked. */
export const validate: Validator = async (...question) => {
  if (!asksUnbound(question[3]) || random.below(FOR_BOTH) === 0) return validateByBoth(...question)
  const [server, , , name, type] = question
  const [verdict, { answers }] = await Promise.all([unbound(...question), query(server, name, type)])
  // Why it fails, delv tells in fewer words.
  if (verdict.startsWith('failed: ')) return validateByBoth(...question)
  return answers.length === 0 ? `negative response, ${verdict}` : verdict
}

/** The verdict of delv; with that of unbound, where it is installed and comes to another. */
export const validateByBoth: Validator = async (...question) => {
  const [ofDelv, ofUnbound] = await Promise.all([
    delv(...question),
    asksUnbound(question[3]) ? unbound(...question) : undefined,
  ])
  const isSame = ofUnbound === undefined || kindOf(ofUnbound) === kindOf(ofDelv)
  return isSame ? ofDelv : `${ofDelv}; unbound: ${ofUnbound}`
}

/** What both validators tell: whether the answer is proven, unsigned or none. */
function kindOf(verdict: string): string {
  return verdict.startsWith('failed: ') ? 'failed' : verdict.replace('negative response, ', '')
}

/** Whether `unbound` can be called; the tests do without it if it cannot be installed. */
function hasUnbound(): boolean {
  return hasAll('unbound-host')
}

/** BIND's validator. */
export const delv: Validator = async (server, zone, ds, name, type) => {
  const anchors = ds.map((content) => {
    const [tag, algorithm, digest, hex] = content.split(' ')
    return `"${zone}." static-ds ${tag} ${algorithm} ${digest} "${hex}";`
  })
  const target = [`@${server.dnsHost}`, '-p', String(server.dnsPort)]
  return inTime(async () => {
    const output = await runOn(`trust-anchors { ${anchors.join(' ')} };\n`, 'delv', (file) => [
      ...target, '-a', file, `+root=${zone}`, '+nocrypto', name, type,
    ]) // prettier-ignore
    return verdictOfDelv(output)
  })
}

/** Asks again if the validator may have failed because this machine was too busy to answer it in time. */
async function inTime(judge: () => Promise<string>): Promise<string> {
  for (let left = ATTEMPTS - 1; ; left--) {
    const start = performance.now()
    const verdict = await judge()
    if (left === 0 || !verdict.startsWith('failed: ') || performance.now() - start < LATE) return verdict
  }
}

/**
 * The verdict in delv's output. delv prints a line such as `; fully validated` before the first RRset, and again before
 * each RRset with another verdict. `resolution failed` is a failure, except for a denial (`ncache …`).
 */
function verdictOfDelv(output: string): string {
  const failure = /^;; resolution failed: (?!ncache nx(?:domain|rrset)$)(.*)$/m.exec(output)
  if (failure) return `failed: ${failure[1]}`
  const verdicts = [...output.matchAll(/^; ([a-z][a-z ,]*)$/gm)].map(([, text]) => text!)
  if (verdicts.length === 0) return `failed: ${output.trim()}`
  const doubtful = verdicts.find((text) => !/^(negative response, )?fully validated$/.test(text))
  return doubtful ?? verdicts[0]!
}

/** Unbound's validator, in its one-shot form. */
const unbound: Validator = (...question) => askUnbound(question)

/** The same, with `harden-algo-downgrade`, which is off by default. */
export const hardenedUnbound: Validator = (...question) => askUnbound(question, ['harden-algo-downgrade: yes'])

async function askUnbound(
  [server, zone, ds, name, type]: Parameters<Validator>,
  options: string[] = [],
): Promise<string> {
  const configuration = [
    'server:',
    ...options,
    'do-not-query-localhost: no',
    // Unbound answers for these itself by default.
    ...['test.', 'invalid.'].map((reserved) => `local-zone: "${reserved}" nodefault`),
    'forward-zone:',
    'name: "."',
    `forward-addr: ${server.dnsHost}@${server.dnsPort}`,
  ].join('\n')
  const anchors = ds.flatMap((content) => ['-y', `${zone}. DS ${content}`])
  return inTime(async () => {
    const output = await runOn(`${configuration}\n`, 'unbound-host', (file) => [
      '-C', file, '-v', ...anchors, '-t', type, name,
    ]) // prettier-ignore
    return verdictOfUnbound(output)
  })
}

/** The verdict in unbound-host's output, of which each line ends with one; it does not tell denials from answers. */
function verdictOfUnbound(output: string): string {
  const lines = output.trim().split('\n')
  const unproven = lines.find((line) => !/ \((in)?secure\)$/.test(line) || line.includes('SERVFAIL'))
  if (unproven !== undefined) return `failed: ${unproven}`
  return lines.every((line) => line.endsWith(' (secure)')) ? 'fully validated' : 'unsigned answer'
}

/** Files by their texts: most questions are about one zone, with the same anchors. */
const files = new Map<string, string>()

function fileOf(text: string): string {
  let file = files.get(text)
  if (file === undefined) {
    file = join(newFolder(), 'input')
    writeFileSync(file, text)
    files.set(text, file)
  }
  return file
}

/** Runs a program on a file of this text, and returns all that it prints, whether it succeeds or not. */
async function runOn(text: string, program: string, args: (file: string) => string[]): Promise<string> {
  const { stdout, stderr } = await run(program, args(fileOf(text)), { maxBuffer: 2 ** 24 }).catch(
    (error: unknown) => error as { stdout: string; stderr: string },
  )
  return stdout + stderr
}

/** The DS records that BIND computes for a key; none if it lacks the SEP flag. */
export async function dsByBind(name: string, dnskey: string): Promise<string[]> {
  const file = join(newFolder(), 'key')
  writeFileSync(file, `${name}. 60 IN DNSKEY ${dnskey}\n`)
  const { stdout } = await run('dnssec-dsfromkey', ['-a', 'SHA-256', '-a', 'SHA-384', '-f', file, name])
  return [...stdout.matchAll(/ DS (\d+ \d+ \d+) (.*)$/gm)].map(
    ([, numbers, hex]) => `${numbers} ${hex!.replaceAll(' ', '').toLowerCase()}`,
  )
}
