import * as yup from 'yup'
import { CAPTCHA_KINDS, type Captcha, type CaptchaAnswer, type CaptchaKind } from '../../service/accounts/captchas.ts'
import { NULL, readFields, readForm, text, typeName } from './fields.ts'

const kind = yup
  .mixed((value): value is CaptchaKind => CAPTCHA_KINDS.some((known) => known === value))
  .typeError(({ originalValue }: { originalValue: unknown }) => {
    const shown = typeof originalValue === 'string' ? originalValue : JSON.stringify(originalValue)
    return `"${shown}" is not a valid choice.`
  })
  .nonNullable(NULL)

/** Reads the request for a captcha (contract §11.2). */
export function readCaptchaKind(body: unknown): CaptchaKind | undefined {
  return readForm(body, {}, { kind }).kind
}

export function presentCaptcha({ id, challenge, kind }: Captcha) {
  return { id, challenge, kind }
}

/** The solution to a captcha, as a member of another request (contract §11.2). */
export function captchaAnswer() {
  return yup
    .mixed((value): value is CaptchaAnswer => typeName(value) === 'dict')
    .transform((value: unknown) => {
      if (typeName(value) !== 'dict') return value
      const { id = '', solution = '' } = readFields(value, { id: text({ trim: true }), solution: text({ trim: true }) })
      return { id, solution }
    })
    .typeError(
      ({ originalValue }: { originalValue: unknown }) =>
        `Invalid data. Expected a dictionary, but got ${typeName(originalValue)}.`,
    )
    .nonNullable(NULL)
}
