export type { Cursor, Page } from '../store/pagination.ts'
