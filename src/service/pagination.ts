import type { Page } from '../store/pagination.ts'

export type { Cursor, Page } from '../store/pagination.ts'

/** The page of a list without entries. */
export const EMPTY: Page<never> = { rows: [], newer: undefined, older: undefined }
