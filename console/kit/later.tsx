import type { ComponentType } from 'preact'
import { Refused } from '../api/client.ts'
import { Loaded, useAsked } from './loading.tsx'

/** A page that comes when it is shown. @param title its heading, if it is not below that of a domain */
export function later<P extends object>(load: () => Promise<ComponentType<P>>, title?: string): ComponentType<P> {
  return function Later(parameters: P) {
    const asked = useAsked(
      () =>
        load().catch(() => {
          throw new Refused(0, { detail: 'This page could not be loaded. Perhaps there is a new version: reload it.' })
        }),
      [],
    )
    return (
      <>
        {title !== undefined && <h1 tabIndex={-1}>{title}</h1>}
        <Loaded asked={asked}>{(Content) => <Content {...parameters} />}</Loaded>
      </>
    )
  }
}
