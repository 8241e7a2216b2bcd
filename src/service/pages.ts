export type { Cursor, Page } from '../store/pages.ts'
