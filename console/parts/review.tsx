import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Change } from '../model/rrset.ts'
import { Difference } from './difference.tsx'
import { Refusal, useAction } from './form.tsx'
import { Loaded, useAsked } from './loading.tsx'
import { Waiting } from './waiting.tsx'

interface ReviewProps {
  title: string
  /** Asks the API for a dry run. */
  preview: () => Promise<Change[]>
  /** Sends the write. What it throws is shown. */
  apply: () => Promise<unknown>
  /** Called when the user leaves without applying. */
  onClose: () => void
  /** Shown below the difference, such as the command that does the same. */
  children?: ComponentChildren
}

/** Shows what a write would change, before it is applied. */
export function Review({ title, preview, apply, onClose, children }: ReviewProps) {
  const asked = useAsked(preview, [])
  const action = useAction()
  const isEmpty = asked.value?.length === 0
  return (
    <Dialog title={title} onClose={onClose}>
      <Loaded asked={asked}>
        {(changes) => (
          <>
            <Difference changes={changes} />
            {changes.some(({ subname, type }) => subname === '' && type === 'NS') && (
              <p class="note">This changes the nameservers of the domain.</p>
            )}
          </>
        )}
      </Loaded>
      {children}
      <Refusal of={action} />
      <p class="buttons">
        <button
          class="main"
          disabled={asked.value === undefined || isEmpty || action.isBusy}
          onClick={() => {
            action.run(apply)
          }}
        >
          Apply
        </button>
        <button onClick={onClose}>Cancel</button>
      </p>
    </Dialog>
  )
}

/** A modal dialog, with its title as heading. Escape closes it. */
export function Dialog(props: { title: string; onClose: () => void; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    element.current!.showModal()
    // What had the focus may be gone when the dialog is.
    return () => {
      if (document.activeElement === document.body)
        document.querySelector<HTMLElement>('h1')!.focus({ preventScroll: true })
    }
  }, [])
  return (
    <dialog ref={element} aria-labelledby="dialog-title" onClose={props.onClose}>
      <h2 id="dialog-title" tabIndex={-1} autofocus>
        {props.title}
      </h2>
      {/* The one of the page is inert behind the dialog. */}
      <Waiting />
      {props.children}
    </dialog>
  )
}
