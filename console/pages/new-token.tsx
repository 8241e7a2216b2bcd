import { useState } from 'preact/hooks'
import { api, ask, Refused } from '../api/client.ts'
import { addPolicy, deleteToken, domainHolding, type NewToken, policiesOf } from '../api/tokens.ts'
import { Act, type Action, Field, Form, useAction } from '../kit/form.tsx'
import { NewSecret } from '../tokens/new-secret.tsx'
import { isSameScope, type Policy, subnameOf, typedName } from '../tokens/policies.ts'
import { type Place, type Preset, PRESETS } from '../tokens/presets.ts'
import { MAY_NOT_MANAGE, Policies, tokenName } from '../tokens/token.tsx'

/** A token that was made, and how far. */
export interface Made {
  preset: Preset
  token: NewToken
  /** The name that the token is for, and its domain; undefined if it is for none in particular. */
  place: { name: string; domain: string } | undefined
  /** The policies that it has, and those that it is to have. */
  policies: Policy[]
  wanted: Policy[]
}

/** Creates a token and its policies from a preset, and shows its secret once. */
export function NewTokenPage() {
  const [preset, setPreset] = useState(PRESETS[0]!)
  const [host, setHost] = useState('')
  const [name, setName] = useState('')
  const [made, setMade] = useState<Made>()
  const action = useAction()
  const addMissing = async (begun: Made) => {
    const { token, wanted } = begun
    try {
      for (const policy of missingIn(await policiesOf(token.id), wanted)) await addPolicy(token.id, policy)
    } catch (reason) {
      // The answer may have been lost on its way: the service knows what it has made.
      setMade({ ...begun, policies: await policiesOf(token.id).catch(() => begun.policies) })
      throw reason
    }
    setMade({ ...begun, policies: wanted })
  }
  const create = async () => {
    const found = await findPlace(preset, host)
    const body = { name, ...preset.members }
    const token = await ask(api.POST('/api/v1/auth/tokens/', { body })).catch(explain)
    const wanted = preset.policies(found?.place ?? { domain: '', subname: '' })
    await addMissing({ preset, token, place: found?.shown, policies: [], wanted })
  }
  if (made !== undefined && missingIn(made.policies, made.wanted).length === 0) return <NewSecret {...made} />
  return (
    <div class="reading">
      <h1 tabIndex={-1}>Create a token</h1>
      {made !== undefined ? (
        <Unfinished
          made={made}
          action={action}
          onRetry={() => addMissing(made)}
          onDeleted={() => {
            setMade(undefined)
          }}
        />
      ) : (
        <Form action={action} fields={['host', 'name']} submit="Create the token" onSubmit={create}>
          <fieldset class="choices">
            <legend>What may it do?</legend>
            <p class="quiet">Whatever you choose, it can read all your domains.</p>
            <div class="cards">
              {PRESETS.map((each) => (
                <label key={each.id} class="panel">
                  <input
                    type="radio"
                    name="preset"
                    checked={each === preset}
                    onChange={() => {
                      setPreset(each)
                    }}
                  />
                  <span>
                    <b>{each.title}</b>
                    <span>{each.text}</span>
                    <span class="quiet">For example: {each.users}.</span>
                  </span>
                </label>
              ))}
            </div>
          </fieldset>
          {preset.asks !== undefined && (
            <Field
              label={preset.asks === 'host' ? 'Host name' : 'Domain'}
              hint={preset.asks === 'host' ? 'Such as www.example.org' : 'Such as example.org'}
              required
              value={host}
              onText={setHost}
              problems={action.of('host')}
            />
          )}
          <Field
            label="Name of the token"
            hint="For you: what uses it, such as “home router”."
            value={name}
            onText={setName}
            problems={action.of('name')}
          />
        </Form>
      )}
    </div>
  )
}

/** Where the token may write, and the name and domain for its programs; undefined if the preset asks for no name. */
async function findPlace({ asks, prefix = '' }: Preset, typed: string) {
  if (asks === undefined) return undefined
  // A name and its wildcard have their proofs at one place.
  const name = typedName(typed).replace(/^\*\./, '')
  const domain = await domainHolding(prefix + name, typed)
  if (asks === 'domain' && domain !== name)
    throw new Refused(400, { host: [`“${name}” is no domain of this account.`] })
  const place: Place = { domain, subname: subnameOf(prefix + name, domain) }
  return { place, shown: { name, domain } }
}

function explain(reason: unknown): never {
  if (!(reason instanceof Refused) || reason.status !== 403) throw reason
  const isDenial = reason.message.startsWith('You do not have permission')
  throw isDenial ? new Refused(403, { detail: MAY_NOT_MANAGE }) : reason
}

function missingIn(policies: Policy[], wanted: Policy[]): Policy[] {
  return wanted.filter((policy) => !policies.some((each) => isSameScope(each, policy)))
}

interface UnfinishedProps {
  made: Made
  action: Action
  onRetry: () => Promise<void>
  onDeleted: () => void
}

/** Says what was made of a token, and what was not. */
function Unfinished({ made: { token, policies, wanted }, action, onRetry, onDeleted }: UnfinishedProps) {
  return (
    <>
      <Form action={action} submit="Make the missing policies" onSubmit={onRetry}>
        <p>The token “{tokenName(token)}” was made, but not all of its policies. As it is, it:</p>
        <Policies policies={policies} />
        <p>These are missing:</p>
        <Policies policies={missingIn(policies, wanted)} />
        <p>Its secret was not shown yet. Make the missing policies to see it, or delete the token.</p>
      </Form>
      <p class="buttons">
        <Act
          class="danger"
          action={action}
          work={async () => {
            await deleteToken(token.id)
            onDeleted()
          }}
        >
          Delete the token
        </Act>
      </p>
    </>
  )
}
