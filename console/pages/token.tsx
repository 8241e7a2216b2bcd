import { useState } from 'preact/hooks'
import { api, ask } from '../api/client.ts'
import { forgetSession } from '../api/me.ts'
import { deleteToken, policiesOf, type Token } from '../api/tokens.ts'
import { shownDuration, typedDuration } from '../kit/durations.ts'
import { Field, Form, useAction } from '../kit/form.tsx'
import { useAsked } from '../kit/loading.tsx'
import { Panel } from '../kit/panel.tsx'
import { Dialog } from '../kit/review.tsx'
import { Ago } from '../kit/time.tsx'
import { navigate } from '../router.ts'
import { placeOf } from '../tokens/policies.ts'
import { programsFor } from '../tokens/presets.ts'
import { Programs } from '../tokens/programs.tsx'
import { deedsOf } from '../tokens/rights.ts'
import { Expiry, isPresent, isUsedEverywhere, Managed, tokenName } from '../tokens/token.tsx'
import { MayWrite, TokenPolicies } from '../tokens/token-policies.tsx'
import { TsigKeyPanel } from '../tokens/tsig-key.tsx'

/** One token: what it is, what it may do, and its deletion. */
export function TokenPage({ id }: { id: string }) {
  const asked = useAsked(() => ask(api.GET('/api/v1/auth/tokens/{id}/', { params: { path: { id } } })), [id])
  const policies = useAsked(() => policiesOf(id), [id])
  return (
    <div class="reading">
      <h1 tabIndex={-1}>{asked.value === undefined ? 'Token' : tokenName(asked.value)}</h1>
      <Managed asked={asked}>
        {(token) => (
          <>
            {isPresent(token) && <p>You are signed in with it.</p>}
            <Managed asked={policies}>{(list) => <p>{deedsOf(token, list)}</p>}</Managed>
            <Facts token={token} />
            <p>
              <a href={`activity?token=${token.id}`}>What it has done lately</a>
            </p>
            <Panel title="What it may write">
              {token.user_override === null && <p>It can read all your domains.</p>}
              {policies.value && <TokenPolicies token={token} policies={policies.value} reload={policies.reload} />}
            </Panel>
            {/* The domains of another account are not known here. */}
            {policies.value && token.user_override === null && <MayWrite policies={policies.value} />}
            {policies.value && token.mfa === null && programsFor(policies.value).length > 0 && (
              <Panel title="Set up a program" isFolded>
                <p>Write the secret in place of SECRET.</p>
                <Programs
                  names={programsFor(policies.value)}
                  secret="SECRET"
                  email={token.owner}
                  place={placeOf(policies.value)}
                />
              </Panel>
            )}
            {token.mfa === null && (
              <TsigKeyPanel token={token} place={placeOf(policies.value ?? [])} reload={asked.reload} />
            )}
            <Panel title="Settings">
              <Settings token={token} reload={asked.reload} />
            </Panel>
            <Panel title="Deletion" isDanger>
              <Deletion token={token} />
            </Panel>
          </>
        )}
      </Managed>
    </div>
  )
}

function Facts({ token }: { token: Token }) {
  const facts = [
    ['Created', <Ago at={token.created} />],
    ['Last use', token.last_used === null ? 'Never' : <Ago at={token.last_used} />],
    ['Expires', <Expiry token={token} />],
    [
      'May be used from',
      token.allowed_subnets.length === 0 ? 'Nowhere: it cannot be used' : <Networks token={token} />,
    ],
    ...(token.maker === undefined ? [] : [['Made by', token.maker] as const]),
    ...(token.user_override === null ? [] : [['Acts for', token.user_override] as const]),
  ] as const
  return (
    <dl class="parts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Networks({ token }: { token: Token }) {
  if (isUsedEverywhere(token)) return 'Every address'
  return <span class="mono">{token.allowed_subnets.join(', ')}</span>
}

const PERMISSIONS = [
  ['perm_create_domain', 'May create domains'],
  ['perm_delete_domain', 'May delete domains whose records it may write'],
  ['perm_manage_tokens', 'May manage tokens and the account: it can then give itself every permission'],
  ['message_required', 'Must say why it writes, in the header Zoneplane-Message'],
] as const

/** Changes what a token is called, when it expires, from where it may be used, and its permissions. */
function Settings({ token, reload }: { token: Token; reload: () => void }) {
  const [draft, setDraft] = useState({
    name: token.name,
    max_age: shownDuration(token.max_age, token.created),
    max_unused_period: shownDuration(token.max_unused_period),
    allowed_subnets: token.allowed_subnets.join(', '),
    perm_create_domain: token.perm_create_domain,
    perm_delete_domain: token.perm_delete_domain,
    perm_manage_tokens: token.perm_manage_tokens,
    message_required: token.message_required === true,
  })
  const [isSaved, setSaved] = useState(false)
  const action = useAction()
  const set = (members: Partial<typeof draft>) => {
    setDraft({ ...draft, ...members })
    setSaved(false)
  }
  const durations = {
    max_age: typedDuration(draft.max_age, token.created),
    max_unused_period: typedDuration(draft.max_unused_period),
  }
  const expiry = (
    <>
      Expires: <Expiry token={{ ...token, ...durations }} />
    </>
  )
  const save = async () => {
    const body = {
      ...draft,
      ...durations,
      allowed_subnets: draft.allowed_subnets.split(/[\s,]+/).filter((network) => network !== ''),
    }
    await ask(api.PATCH('/api/v1/auth/tokens/{id}/', { params: { path: { id: token.id } }, body }))
    setSaved(true)
    reload()
  }
  const field = (name: 'name' | 'max_age' | 'max_unused_period' | 'allowed_subnets', label: string, hint: string) => (
    <Field
      label={label}
      hint={hint}
      value={draft[name]}
      // The formats of the API are not those of the hint.
      problems={action.of(name).map((text) => text.replace(/^Duration has.*/, `Not understood. ${hint}`))}
      onText={(text) => {
        set({ [name]: text })
      }}
    />
  )
  const fields = ['name', 'max_age', 'max_unused_period', 'allowed_subnets']
  return (
    <Form action={action} fields={fields} submit="Save the settings" onSubmit={save}>
      {field('name', 'Name', 'For you: what uses the token.')}
      {field('max_age', 'Expires on, or at the age of', 'Such as 2026-12-31, or 90 days 12 hours. Empty: never.')}
      {field('max_unused_period', 'Expires when unused for', 'Such as 30 days. Empty: never.')}
      <p>{expiry}</p>
      {field('allowed_subnets', 'May be used from', 'Addresses and networks. All: 0.0.0.0/0, ::/0')}
      <fieldset class="choices">
        <legend>Permissions</legend>
        {PERMISSIONS.map(([name, text]) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={draft[name]}
              onChange={(event) => {
                set({ [name]: event.currentTarget.checked })
              }}
            />
            <span>{text}</span>
          </label>
        ))}
      </fieldset>
      <p role="status">{isSaved && <>The settings are saved. {expiry}</>}</p>
    </Form>
  )
}

function Deletion({ token }: { token: Token }) {
  const isOwn = isPresent(token)
  const [isAsking, setAsking] = useState(false)
  const action = useAction()
  const close = () => {
    setAsking(false)
  }
  const remove = async () => {
    await deleteToken(token.id)
    if (isOwn) forgetSession()
    else navigate('tokens')
  }
  return (
    <>
      <button
        class="danger"
        onClick={() => {
          setAsking(true)
        }}
      >
        Delete this token
      </button>
      {isAsking && (
        <Dialog title={`Delete “${tokenName(token)}”`} onClose={close}>
          <Form action={action} submit="Delete" isDangerous onSubmit={remove} onCancel={close}>
            <p>Programs that use it stop working at once. It cannot be brought back.</p>
            {isOwn && (
              <p>
                You are signed in with it: this session ends. To sign in again, you need a password or another token.
              </p>
            )}
          </Form>
        </Dialog>
      )}
    </>
  )
}
