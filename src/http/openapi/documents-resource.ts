import { createHash } from 'node:crypto'
import { described, type JsonSchema, STRING } from '../fields/schema.ts'
import { answerEmpty, answerText } from '../kit/answer.ts'
import { type Middleware, withEffect } from '../kit/context.ts'
import type { Resource } from '../kit/resource.ts'
import { conditions, setTag } from '../kit/terms.ts'
import { showAsset, showDocs } from '../pages/docs.ts'
import { PAGE_HEADERS } from './described-headers.ts'

const DOCUMENT: JsonSchema = { type: 'object', examples: [{ openapi: '3.1.1' }] }

const TEXT =
  'OpenAPI 3.1, of exactly the resources that this server has by its settings. With `If-None-Match` and the `ETag` of ' +
  'an earlier response, the response is empty if nothing has changed.'

/** Describes the documents about the API (contract §15.2). @param document returns the OpenAPI document on demand */
export function documents(document: () => unknown): Resource[] {
  return [
    documentIn('openapi.json', 'showDocument', 'Show this document', () => JSON.stringify(document())),
    documentIn('openapi.yaml', 'showDocumentAsYaml', 'Show this document as YAML', async () =>
      (await import('yaml')).stringify(document(), { aliasDuplicateObjects: false }),
    ),
    {
      path: '/api/v1/docs/',
      guards: [],
      GET: {
        id: 'showDocs',
        summary: 'Show this document as a page',
        description: 'The page can also send requests, with a token that is typed there.',
        answers: {
          200: {
            content: { 'text/html': described(STRING, 'A page for browsers.', '<!doctype html>…') },
            headers: PAGE_HEADERS,
          },
        },
        chain: [showDocs],
      },
    },
    {
      path: '/api/v1/docs/:asset',
      guards: [],
      GET: {
        id: 'showDocsAsset',
        summary: 'Show a part of the page',
        description: 'Compressed by gzip, whatever the request accepts.',
        answers: {
          200: {
            content: {
              'text/javascript': described(STRING, 'The program of the page.', 'SwaggerUIBundle = …'),
              'text/css': described(STRING, 'The style of the page.', '.swagger-ui { … }'),
            },
            headers: ['Content-Encoding', 'Cache-ControlOfAsset'],
          },
        },
        chain: [showAsset],
      },
    },
  ]
}

/** Describes a document, which is made once. @param file its name: its ending says the media type */
export function documentIn(
  file: `${string}.${'json' | 'yaml'}`,
  id: string,
  summary: string,
  print: () => string | Promise<string>,
): Resource {
  const mediaType = `application/${file.slice(-4)}`
  return {
    path: `/api/v1/${file}`,
    guards: [],
    GET: {
      id,
      summary,
      description: TEXT,
      answers: {
        200: { content: { [mediaType]: DOCUMENT }, headers: ['ETag'] },
        304: { headers: ['ETag'] },
      },
      errors: { 503: [] },
      chain: [show(mediaType, print)],
    },
  }
}

/** Serves a text that is made once; to a client that has it already, 304 (RFC 9110 §13.1.2). */
function show(mediaType: string, print: () => string | Promise<string>): Middleware {
  const make = async () => {
    const octets = Buffer.from(await print())
    return { octets, tag: createHash('sha256').update(octets).digest('base64url').slice(0, 22) }
  }
  let made: ReturnType<typeof make> | undefined
  return withEffect({ reads: ['IfNoneMatchOfRead'] }, async function showDocument(ctx) {
    const { octets, tag } = await (made ??= make())
    const { noneMatch } = conditions(ctx)
    setTag(ctx, tag)
    if (noneMatch === '*' || noneMatch?.includes(tag) === true) answerEmpty(ctx, 304)
    else answerText(ctx, 200, octets, mediaType)
  })
}
