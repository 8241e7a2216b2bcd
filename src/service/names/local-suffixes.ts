import { withAncestors } from '../../dns/names.ts'

/** The local public suffix that a name is a direct child of (contract §7.6). */
export function localParent(name: string, local: readonly string[]): string | undefined {
  return local.find((suffix) => suffix === withAncestors(name)[1])
}
