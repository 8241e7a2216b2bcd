import { PAGE_SIZE } from '../../limits.ts'
import { arrayOf, type Component, described, type JsonSchema, named, object, ref, STRING } from '../fields/schema.ts'
import type { Answer } from '../kit/resource.ts'

/** Descriptions of requests and responses for the rows of the router. */

export function json(schema: JsonSchema): Record<string, JsonSchema> {
  return { 'application/json': named(schema) }
}

/** Describes a response with JSON. */
export function shows(schema: JsonSchema, ...headers: string[]): Answer {
  return { content: json(schema), headers }
}

export function text(example: string, description: string, mediaType = 'text/plain'): Answer {
  return { content: { [mediaType]: { ...described(STRING, description, example), minLength: 1 } } }
}

/** Describes a response with only a sentence. */
export function says(...sentences: string[]): Answer {
  return {
    content: json(
      object({ detail: described(STRING, sentences.map((each) => `\`${each}\``).join(' or '), sentences[0]) }),
    ),
  }
}

export const NOTHING: Answer = {}

/** Describes a paged list: its entries and its filters (contract §4). */
export function pages(schema: Component, ...filters: string[]) {
  const limit =
    `Pagination required. You can query up to ${PAGE_SIZE} items at a time (${PAGE_SIZE + 1} total). ` +
    'Please use the `first` page link (see Link header).'
  return {
    query: ['cursor', ...filters],
    answers: { 200: shows(arrayOf(ref(schema)), 'Link') },
    errors: { 400: [limit], 404: ['Invalid cursor'] },
  }
}
