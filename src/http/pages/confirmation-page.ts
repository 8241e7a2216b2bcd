import type { Action } from '../../service/accounts/confirmations.ts'
import { type Html, html } from './page.ts'

/** The form that a confirmation link opens. */
interface Form {
  title: string
  text: string
  button: string
  /** True if the action cannot be undone. */
  isDangerous?: boolean
  inputs?: Input[]
}

interface Input {
  name: string
  label: string
  hint: string
  attributes: Html
  isCheckbox?: boolean
  /** True if the form can be sent without it. */
  isOptional?: boolean
}

const NEW_PASSWORD: Input = {
  name: 'new_password',
  label: 'New password',
  hint: 'At least 8 characters. Use a long sentence, or let your password manager create one.',
  attributes: html`type="password" minlength="8" maxlength="128" autocomplete="new-password"`,
}

const REVOKE_TOKENS: Input = {
  name: 'revoke_tokens',
  label: 'Delete my API tokens',
  hint: 'The e-mail lists them. Programs and routers that use one need a new token then.',
  attributes: html`type="checkbox" value="true" checked`,
  isCheckbox: true,
}

const FORMS: Record<Action, Form> = {
  'activate-account': {
    title: 'Activate your account',
    text: 'Please confirm that this e-mail address is yours. You can log in as soon as your account is active.',
    button: 'Activate account',
  },
  'change-email': {
    title: 'Change your e-mail address',
    text: 'Please confirm that the new e-mail address is yours. From then on, use it to log in.',
    button: 'Change e-mail address',
  },
  'reset-password': {
    title: 'Set a new password',
    text: 'Changing your password logs you out everywhere.',
    button: 'Set password',
    inputs: [NEW_PASSWORD, REVOKE_TOKENS],
  },
  'delete-account': {
    title: 'Delete your account',
    text: 'This deletes your account immediately, with all its tokens and settings. It cannot be undone.',
    button: 'Delete account for good',
    isDangerous: true,
  },
  'create-totp': {
    title: 'New authentication factor',
    text:
      'The next page shows the secret of the new factor, only once. Please have your authenticator app ready, and ' +
      'make sure that nobody is looking over your shoulder.',
    button: 'Show the secret',
  },
  'create-passkey': {
    title: 'Add your passkey',
    text: 'Whoever has the passkey can then sign in to your account with it. Only confirm this if you have just made it.',
    button: 'Add the passkey',
  },
  'accept-invitation': {
    title: 'Accept an invitation',
    text: 'You may then act for the account that the e-mail names, with your own account.',
    button: 'Accept invitation',
    inputs: [
      {
        ...NEW_PASSWORD,
        label: 'Password of your new account',
        hint: 'Only if you have no account yet. At least 8 characters: a long sentence, or one of your password manager.',
        isOptional: true,
      },
    ],
  },
}

export function titleOf(action: Action): string {
  return FORMS[action].title
}

/** Reports whether the form of the action has an input of this name. */
export function asksFor(action: Action, name: string): boolean {
  return FORMS[action].inputs?.some((input) => input.name === name) === true
}

/**
 * Returns the form of an action.
 * @param offer what the action does, if that depends on the link
 * @param problems the error texts for the inputs of the previous attempt
 */
export function form(action: Action, offer: string | undefined, problems: Record<string, string[]> = {}): Html {
  const { text, button, isDangerous, inputs = [] } = FORMS[action]
  return html`<p>${offer ?? text}</p>
<form method="post">
${inputs.map((input) => field(input, problems[input.name]))}
<button${isDangerous && html` class="danger"`}>${button}</button>
</form>`
}

function field({ name, label, hint, attributes, isCheckbox, isOptional }: Input, problems: string[] | undefined): Html {
  const invalid = problems && html` aria-invalid="true"`
  if (isCheckbox) {
    // Browsers do not send an unchecked box, and then only the hidden input counts.
    return html`<input type="hidden" name="${name}" value="false" /><label
        ><input name="${name}" ${attributes} aria-describedby="${name}-hint" ${invalid} /> ${label}</label
      >
      <p class="quiet" id="${name}-hint">${hint}</p>`
  }
  return html`<label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      ${attributes}
      aria-describedby="${name}-hint"
      ${invalid}${!isOptional && html` required autofocus`}
    />
    <p class="quiet" id="${name}-hint">${hint}</p>`
}

/** Returns the markup of error texts. */
export function alert(texts: string[]): Html {
  return html`<div class="alert" role="alert">${texts.map((text) => html`<p>${text}</p>`)}</div>`
}

/** Shows the content of the same response as JSON. @param root the address of the service, if it has a console */
export function outcome({ detail, domain, token, secret, uri }: Outcome, root: string | undefined): Html {
  return html`${detail && html`<p role="status">${detail}</p>`} ${domain && delegation(domain)}
  ${token && domainToken(token)} ${secret && factor(secret, uri!)}
  ${root && html`<p><a href="${root}/console/">Go to the console</a></p>`}`
}

/** The members of the JSON that the page shows. */
export interface Outcome {
  detail?: string
  domain?: { name: string; keys?: { ds: string[] }[] }
  token?: string
  secret?: string
  uri?: string
}

function delegation({ name, keys = [] }: NonNullable<Outcome['domain']>): Html {
  const ds = keys.flatMap((key) => key.ds)
  if (ds.length === 0) return html``
  return html`<p>To secure ${name} with DNSSEC, give your registrar one of these DS records:</p>
    ${ds.map((content) => html`<p><code>${content}</code></p>`)}`
}

function domainToken(token: string): Html {
  return html`<p>
      Enter this token in your router, or in any other device whose address changes, and it will keep your domain up to
      date. We show the token only once.
    </p>
    <p><code>${token}</code></p>`
}

function factor(secret: string, uri: string): Html {
  return html`<p role="status">
      Type this secret into your authenticator app, or <a href="${uri}">open it in the app</a>. We show it only once.
    </p>
    <p><code>${secret}</code></p>
    <p class="quiet">Then verify the factor with a code from the app.</p>`
}
