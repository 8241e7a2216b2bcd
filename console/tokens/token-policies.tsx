import { useRef, useState } from 'preact/hooks'
import { api, ask } from '../api/client.ts'
import { addPolicy, domainHolding, type StoredPolicy, type Token } from '../api/tokens.ts'
import { Act, Field, Form, Refusal, useAction } from '../kit/form.tsx'
import { Panel } from '../kit/panel.tsx'
import { Dialog } from '../kit/review.tsx'
import { mayWrite, type Verdict } from './may-write.ts'
import { isDefault, sentenceOf, subnameOf, typedName } from './policies.ts'
import { Policies } from './token.tsx'

interface Props {
  token: Token
  policies: StoredPolicy[]
  /** Asks for the policies again. */
  reload: () => void
}

/** What a token may write, with buttons and a form that change it. */
export function TokenPolicies({ token: { id }, policies, reload }: Props) {
  const action = useAction()
  const [isAsking, setAsking] = useState(false)
  const close = () => {
    setAsking(false)
  }
  const path = (policy: StoredPolicy) => ({ params: { path: { id, policy: policy.id } } })
  const remove = async (policy: StoredPolicy) => {
    await ask(api.DELETE('/api/v1/auth/tokens/{id}/policies/rrsets/{policy}/', path(policy)))
    reload()
  }
  const turn = async (policy: StoredPolicy) => {
    const body = { perm_write: !policy.perm_write }
    await ask(api.PATCH('/api/v1/auth/tokens/{id}/policies/rrsets/{policy}/', { ...path(policy), body }))
    close()
    reload()
  }
  return (
    <>
      <Policies
        policies={policies}
        beside={(policy, sentence) => {
          // The policy that decides the rest cannot go before the others.
          const isBound = isDefault(policy) && policies.length > 1
          const verb = isBound ? `${policy.perm_write ? 'Forbid' : 'Allow'} everything else` : 'Remove'
          return (
            <button
              class="small"
              disabled={action.isBusy}
              aria-label={`${verb}: ${sentence}`}
              onClick={() => {
                if (isBound && !policy.perm_write) setAsking(true)
                else action.run(() => (isBound ? turn : remove)(policy))
              }}
            >
              {verb}
            </button>
          )
        }}
      />
      {isAsking && (
        <Dialog title="Allow everything else" onClose={close}>
          <Form
            action={action}
            submit="Allow"
            isDangerous
            onCancel={close}
            onSubmit={() => turn(policies.find(isDefault)!)}
          >
            <p>It may then write everything in all domains, except for what another policy forbids.</p>
          </Form>
        </Dialog>
      )}
      {policies.length > 0 && (
        <p class="quiet">
          {policies.length === 1
            ? 'Without this policy, it may write everything.'
            : 'Each line is a policy. Where several apply, the most specific one decides.'}
        </p>
      )}
      <Refusal of={action} />
      {policies.length > 0 ? (
        <NewPolicy id={id} onAdded={reload} />
      ) : (
        <>
          <p class="quiet">This acts at once: programs that use it cannot write until you allow what they need.</p>
          <Act
            action={action}
            work={async () => {
              await addPolicy(id, { domain: null, subname: null, type: null, perm_write: false })
              reload()
            }}
          >
            Forbid all writes, and then allow some
          </Act>
        </>
      )}
    </>
  )
}

function NewPolicy({ id, onAdded }: { id: string; onAdded: () => void }) {
  const [domain, setDomain] = useState('')
  const [subname, setSubname] = useState('')
  const [pattern, setPattern] = useState('')
  const [type, setType] = useState('')
  const [may, setMay] = useState(true)
  const action = useAction()
  const row = useRef<HTMLDivElement>(null)
  const add = async () => {
    await addPolicy(id, {
      domain: typedName(domain) || null,
      subname: subname.trim() === '@' ? '' : typedName(subname) || null,
      subname_pattern: typedName(pattern) || null,
      type: type.trim().toUpperCase() || null,
      perm_write: may,
    })
    // The next one is likely for another name. Without a name, a policy is for all of them, so this one stays until then.
    const name = row.current!.querySelectorAll('input')[1]!
    name.focus()
    name.select()
    onAdded()
  }
  return (
    <details>
      <summary>Add a policy</summary>
      <Form action={action} fields={['domain', 'subname', 'subname_pattern', 'type']} submit="Add the policy" onSubmit={add}>
        <div class="row" ref={row}>
          <div class="field">
            <label for="policy-may">It</label>
            <select
              id="policy-may"
              value={may ? 'may' : 'may not'}
              onChange={(event) => {
                setMay(event.currentTarget.value === 'may')
              }}
            >
              <option value="may">may write</option>
              <option value="may not">may not write</option>
            </select>
          </div>
          <Field label="Type" hint="Such as TXT. Empty: any." value={type} onText={setType}
            problems={action.of('type')} />
          <Field label="Name in the domain" hint="Such as www. @ is the domain’s own name. Empty: any." value={subname}
            onText={setSubname} problems={action.of('subname')} />
          <Field label="Or a pattern" hint="* is one label, ** are some: _acme-challenge.**" value={pattern}
            onText={setPattern} problems={action.of('subname_pattern')} />
          <Field label="Domain" hint="Such as example.org. Empty: any." value={domain} onText={setDomain}
            problems={action.of('domain')} />
        </div>
      </Form>
    </details>
  ) // prettier-ignore
}

/** Answers whether these policies permit a write, and which one decides (contract §6.4). */
export function MayWrite({ policies }: { policies: StoredPolicy[] }) {
  const [host, setHost] = useState('')
  const [type, setType] = useState('')
  const [asked, setAsked] = useState<{ name: string; domain: string; type: string }>()
  const action = useAction()
  const find = async () => {
    setAsked(undefined)
    const name = typedName(host)
    setAsked({ name, domain: await domainHolding(name, host), type: type.trim().toUpperCase() })
  }
  return (
    <Panel title="May it write …?">
      <Form action={action} fields={['host']} submit="Ask" onSubmit={find}>
        <div class="row">
          <Field label="Name" hint="Such as www.example.org" required value={host} onText={setHost}
            problems={action.of('host')} />
          <Field label="Type of the records" hint="Such as A" required value={type} onText={setType} />
        </div>
      </Form>
      <p role="status">
        {asked !== undefined && (
          <Answer
            what={`${asked.type} at ${asked.name}`}
            policies={policies}
            verdict={mayWrite(policies, { ...asked, subname: subnameOf(asked.name, asked.domain) })}
          />
        )}
      </p>
    </Panel>
  ) // prettier-ignore
}

interface AnswerProps {
  what: string
  policies: StoredPolicy[]
  verdict: Verdict<StoredPolicy>
}

function Answer({ what, policies, verdict: { may, policy } }: AnswerProps) {
  return (
    <>
      <b>{may ? 'Yes' : 'No'}</b>, it {may ? 'may' : 'may not'} write {what}.{' '}
      {policy === undefined ? 'It has no policies.' : `This decides: “${sentenceOf(policy, policies.length === 1)}”`}
    </>
  )
}
