import { isUtf8 } from 'node:buffer'
import { Invalid } from '../../errors.ts'
import { MESSAGE_PROBLEMS, messageProblem } from '../../service/zone/journal.ts'
import { type Context, guard } from './context.ts'
import { isDryRun } from './terms.ts'

const NOT_UTF8 = 'Must be UTF-8, as it is or encoded by RFC 8187.'
const REQUIRED = 'This field is required.'

/** An `ext-value` of RFC 8187 §3.2.1 in UTF-8, and its `value-chars`. */
const ENCODED = /^utf-8'[a-z\d-]*'((?:%[\da-f]{2}|[\w!#$&+.^`|~-])*)$/i

/**
 * Takes the message of a write, which its entries in histories get (contract §15.14). A dry run needs none: people try a
 * change before they say why.
 * @throws Invalid if it is not as it must be, or is lacking although the token needs one
 */
export const takeMessage = guard(
  (ctx: Context) => {
    const message = messageIn(ctx.get('Zoneplane-Message'))
    const isLacking = message === undefined && ctx.state.actor.messageRequired && !isDryRun(ctx)
    if (isLacking) throw Invalid.field('message', REQUIRED)
    ctx.state.system = { ...ctx.state.system, message }
  },
  {
    reads: ['Zoneplane-Message'],
    errors: { 400: [NOT_UTF8, ...Object.values(MESSAGE_PROBLEMS), REQUIRED] },
    problems: ['message'],
  },
)

/** Reads the message in a header; undefined if it is empty. @throws Invalid */
function messageIn(header: string): string | undefined {
  const [, encoded] = ENCODED.exec(header) ?? []
  // Node decodes headers as Latin-1, so both are octets, one in each character.
  const octets = encoded?.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))) ?? header
  const bytes = Buffer.from(octets, 'latin1')
  if (!isUtf8(bytes)) throw Invalid.field('message', NOT_UTF8)
  const text = bytes.toString().trim()
  const problem = messageProblem(text)
  if (problem !== undefined) throw Invalid.field('message', problem)
  return text === '' ? undefined : text
}
