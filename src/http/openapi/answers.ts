import { PAGE_SIZE } from '../../limits.ts'
import type { Answer } from '../kit/resource.ts'
import { arrayOf, described, named, object, ref, STRING, type Component, type JsonSchema } from '../fields/schema.ts'

/** How rows of the router say what they take and answer. */

export function json(schema: JsonSchema): Record<string, JsonSchema> {
  return { 'application/json': named(schema) }
}

/** A response with JSON. */
export function shows(schema: JsonSchema, ...headers: string[]): Answer {
  return { content: json(schema), headers }
}

export function text(example: string, description: string, mediaType = 'text/plain'): Answer {
  return { content: { [mediaType]: described(STRING, description, example) } }
}

/** A response with nothing but a sentence. */
export function says(...sentences: string[]): Answer {
  return {
    content: json(
      object({ detail: described(STRING, sentences.map((each) => `\`${each}\``).join(' or '), sentences[0]) }),
    ),
  }
}

export const NOTHING: Answer = {}

/** A list that is paged: what it shows, with its filters (contract §4). */
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
