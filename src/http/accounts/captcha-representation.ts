import * as yup from 'yup'
import { type Captcha, CAPTCHA_KINDS, type CaptchaAnswer } from '../../service/accounts/captchas.ts'
import { choice, NULL, readFields, text, typeName } from '../fields/fields.ts'
import { type Component, STRING, UUID } from '../fields/schema.ts'
import { representation } from '../fields/table.ts'

/** A captcha to be solved (contract §11.2). */
export const CAPTCHA = representation<Captcha>()(['Captcha'], {
  id: { read: UUID, text: 'Identifies the captcha.' },
  challenge: {
    read: STRING,
    text: 'An ALTCHA challenge, as JSON.',
    example:
      '{"parameters":{"algorithm":"PBKDF2/SHA-256","cost":1000,"nonce":"5b1c","salt":"9f2e","keyPrefix":"00"},"signature":"c0ffee"}',
  },
  kind: { write: choice(CAPTCHA_KINDS), text: 'The kind of the captcha.', example: 'altcha' },
})

const solved = { id: text({ trim: true }), solution: text({ trim: true }) }

const ANSWER: Component = {
  title: 'CaptchaAnswer',
  type: 'object',
  properties: {
    id: { ...UUID, type: 'string', description: 'The `id` of the captcha. It can be used once, within an hour.' },
    solution: { type: 'string', description: "The payload of ALTCHA's widget: JSON in Base64." },
  },
  examples: [{ id: UUID.examples![0], solution: 'eyJjaGFsbGVuZ2UiOnt9LCJzb2x1dGlvbiI6e319' }],
}

/** The field of a solution to a captcha, a member of another request (contract §11.2). */
export const captchaAnswer = yup
  .mixed((value): value is CaptchaAnswer => typeName(value) === 'dict')
  .transform((value: unknown) => {
    if (typeName(value) !== 'dict') return value
    const { id = '', solution = '' } = readFields(value, solved)
    return { id, solution }
  })
  .typeError(
    ({ originalValue }: { originalValue: unknown }) =>
      `Invalid data. Expected a dictionary, but got ${typeName(originalValue)}.`,
  )
  .nonNullable(NULL)
  .meta({ accepted: ANSWER })
