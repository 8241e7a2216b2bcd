import type { Captcha } from '../../service/accounts/captchas.ts'
import type { Action } from '../../service/accounts/confirmations.ts'
import { html, SOLVER_ELEMENT, type Html } from './page.ts'

/** What a person reads who has opened the link to an action. */
interface Words {
  title: string
  text: string
  button: string
  /** The action cannot be undone. */
  isDangerous?: boolean
  /** What has to be typed in. */
  inputs?: Input[]
}

interface Input {
  name: string
  label: string
  hint: string
  /** Further attributes. */
  attributes: Html
}

const NEW_PASSWORD: Input = {
  name: 'new_password',
  label: 'New password',
  hint: 'At least 8 characters. A long sentence, or what a password manager makes, is best.',
  attributes: html`type="password" minlength="8" maxlength="128" autocomplete="new-password"`,
}

const WORDS: Record<Action, Words> = {
  'activate-account': {
    title: 'Activate your account',
    text: 'With this you confirm that the e-mail address is yours, and can log in from then on.',
    button: 'Activate account',
  },
  'change-email': {
    title: 'Change your e-mail address',
    text: 'With this you confirm that the new e-mail address is yours. You log in with it from then on.',
    button: 'Change e-mail address',
  },
  'reset-password': {
    title: 'Set a new password',
    text: 'All your logins end when the password changes. API tokens stay valid.',
    button: 'Set password',
    inputs: [NEW_PASSWORD],
  },
  'delete-account': {
    title: 'Delete your account',
    text: 'This deletes your account with all its tokens and settings, at once and for good.',
    button: 'Delete account for good',
    isDangerous: true,
  },
  'create-totp': {
    title: 'New authentication factor',
    text:
      'The next page shows the secret of the new factor, once. Have your authenticator app ready, and nobody look ' +
      'over your shoulder.',
    button: 'Show the secret',
  },
}

export function titleOf(action: Action): string {
  return WORDS[action].title
}

/** Whether the form has, or can have, an input of this name. */
export function asksFor(action: Action, name: string): boolean {
  return name === 'captcha' || WORDS[action].inputs?.some((input) => input.name === name) === true
}

/**
 * The form that carries the action out.
 * @param problems what was wrong with the inputs the last time
 * @param captcha to be solved, if the service has asked for one
 */
export function form(action: Action, problems: Record<string, string[]> = {}, captcha?: Captcha): Html {
  const { text, button, isDangerous = false, inputs = [] } = WORDS[action]
  return html`<p>${text}</p>
<form method="post">
${inputs.map((input) => field(input, problems[input.name]))}
${captcha === undefined ? '' : unsolved(captcha)}
<button${isDangerous ? html` class="danger"` : ''}${captcha === undefined ? '' : html` disabled`}>${button}</button>
</form>${captcha === undefined ? '' : SOLVER_ELEMENT}`
}

function field({ name, label, hint, attributes }: Input, problems: string[] | undefined): Html {
  const invalid = problems === undefined ? '' : html` aria-invalid="true"`
  return html`<label for="${name}">${label}</label>
    <input id="${name}" name="${name}" ${attributes} aria-describedby="${name}-hint" ${invalid} required autofocus />
    <p class="quiet" id="${name}-hint">${hint}</p>`
}

/** What the solver reads, and fills in; its first text stays where there are no scripts. */
function unsolved({ id, challenge }: Captcha): Html {
  return html`<input type="hidden" name="captcha.id" value="${id}" />
    <input type="hidden" name="captcha.solution" data-challenge="${challenge}" />
    <p role="status">
      Your browser has to prove that you are not a robot, and needs JavaScript for it. Please switch JavaScript on, and
      open the link in the mail again.
    </p>`
}

/** What has gone wrong. */
export function alert(texts: string[]): Html {
  return html`<div class="alert" role="alert">${texts.map((text) => html`<p>${text}</p>`)}</div>`
}

/** What the answer to a JSON request would have said, in words. */
export function outcome(answer: Record<string, unknown>): Html {
  const { detail, domain, token, secret, uri } = answer as Outcome
  return html`${detail === undefined ? '' : html`<p role="status">${detail}</p>`}
  ${domain === undefined ? '' : delegation(domain)} ${token === undefined ? '' : domainToken(token)}
  ${secret === undefined ? '' : factor(secret, uri!)}`
}

interface Outcome {
  detail?: string
  domain?: { name: string; keys?: { ds: string[] }[] }
  token?: string
  secret?: string
  uri?: string
}

function delegation({ name, keys = [] }: NonNullable<Outcome['domain']>): Html {
  const ds = keys.flatMap((key) => key.ds)
  if (ds.length === 0) return html``
  return html`<p>The registrar of ${name} needs one of these DS records:</p>
    ${ds.map((content) => html`<p><code>${content}</code></p>`)}`
}

function domainToken(token: string): Html {
  return html`<p>
      With this token your router, or whatever has the changing address, keeps the domain up to date. It is shown only
      now.
    </p>
    <p><code>${token}</code></p>`
}

function factor(secret: string, uri: string): Html {
  return html`<p role="status">
      Type this secret into your authenticator app, or <a href="${uri}">open the app with it</a>. It is shown only now.
    </p>
    <p><code>${secret}</code></p>
    <p class="quiet">Then verify the factor with a code that the app shows.</p>`
}
