import { nonBlankText } from '../fields/fields.ts'
import { BOOLEAN, type Component, described, nullable, object, STRING, TIME } from '../fields/schema.ts'
import { form } from '../fields/table.ts'

/** Single sign-on as the sign-in page shows it (contract §11.4). */
export const SIGN_ON: Component = {
  title: 'SignOn',
  ...object({
    name: described(STRING, 'The text of the button.', 'Example Company'),
    reachable: described(BOOLEAN, 'Whether the issuer answers now.', true),
  }),
}

export const SIGN_ON_START: Component = {
  title: 'SignOnStart',
  ...object({
    url: described(
      { type: 'string', format: 'uri' },
      'Where the browser signs in.',
      'https://login.example.net/auth?client_id=zoneplane',
    ),
  }),
}

/** The link of an account with an identity. */
export const SIGN_ON_LINK: Component = {
  title: 'SignOnLink',
  ...object({
    linked: described(nullable(TIME), 'Since when the account is linked; null: it is not.'),
    last_used: described(nullable(TIME), 'When somebody signed in by it last.'),
  }),
}

export const SIGN_ON_CODE = form('SignOnCode', ['code'], {
  code: {
    write: nonBlankText({ trim: true }),
    text: 'The code in the fragment of the page to which the callback leads.',
    example: 'pnLKo8W2bC5yVfQqJmHtpnLKo8W2',
  },
})

export const LOGOUT_TOKEN = form('LogoutToken', ['logout_token'], {
  logout_token: { write: nonBlankText({ trim: true }), text: 'The token that the issuer has signed.' },
})
