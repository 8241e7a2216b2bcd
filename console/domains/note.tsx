import { useState } from 'preact/hooks'
import { api, ask } from '../api/client.ts'
import { mayChange, mayChangeSettings } from '../api/me.ts'
import { Field, Form, useAction } from '../kit/form.tsx'
import { domainChanged } from './domain-header.tsx'

interface NoteProps {
  name: string
  note: string | undefined
  isSuspended: boolean
}

/** The note of a domain, and its form for those who may change it. */
export function Note({ name, note = '', isSuspended }: NoteProps) {
  const [stored, setStored] = useState(note)
  const [text, setText] = useState(note)
  const action = useAction()
  if (isSuspended || !mayChangeSettings() || !mayChange(name)) return <p>{note === '' ? 'None.' : <bdi>{note}</bdi>}</p>
  const save = async () => {
    const { note: saved = '' } = await ask(
      api.PATCH('/api/v1/domains/{name}/', { params: { path: { name } }, body: { note: text } }),
    )
    setStored(saved)
    setText(saved)
    domainChanged()
  }
  return (
    <Form action={action} fields={['note']} submit="Save the note" isReady={text.trim() !== stored} onSubmit={save}>
      <Field
        label="What others should know"
        value={text}
        onText={setText}
        hint="Shown on each page of this domain to everyone who sees it. No place for secrets."
        problems={action.of('note')}
        maxLength={500}
        autocomplete="off"
      />
    </Form>
  )
}
