import type Koa from 'koa'
import type { RouterContext } from '@koa/router'
import type { Actor } from '../service/tokens/actor.ts'
import type { Domain } from '../service/domains/domains.ts'
import { stringify } from '../slices.ts'
import type { System } from '../system.ts'

/** What the middleware in front of a handler has found out. */
export interface State {
  system: System
  requestId: string
  /** The resource's path as the router knows it, for the log. */
  route?: string
  /** Set behind `authenticate`. */
  actor: Actor
  /** Answers are plain text, and GET writes (contract §10). */
  dyndns?: boolean
  /** The user of Basic authentication; set behind `authenticateForUpdate`. */
  user?: string | undefined
  /** The names that an update is about; set behind `findHosts`. */
  hosts: string[]
  /** The domain named in the path, or by those names; set behind `authenticateForDomain` and `findHosts`. */
  domain: Domain
  /** The body's JSON; throws what is wrong with the body. Set behind `body`. */
  body: () => unknown
}

export type Context = RouterContext<State>
export type Middleware = Koa.Middleware<State, RouterContext<State>>

/** Answers with JSON: compact, and with exactly this media type (contract §1.5). */
export function answer(ctx: Koa.Context, status: number, body: unknown): void {
  ctx.status = status
  ctx.set('Content-Type', 'application/json')
  ctx.body = JSON.stringify(body)
}

/** Like `answer`, with an array that may be long. */
export async function answerItems(ctx: Koa.Context, status: number, items: readonly unknown[]): Promise<void> {
  ctx.status = status
  ctx.set('Content-Type', 'application/json')
  ctx.body = await stringify(items)
}

/** Answers with text, and with exactly this media type (contract §1.5). */
export function answerText(ctx: Koa.Context, status: number, text: string, mediaType = 'text/plain'): void {
  ctx.status = status
  ctx.set('Content-Type', mediaType)
  ctx.body = text
}

/** Answers without body. */
export function answerEmpty(ctx: Koa.Context, status: number): void {
  ctx.body = status === 204 ? null : ''
  ctx.status = status
  ctx.remove('Content-Type')
}

/** The query's parameters; of one given more than once, the last value, at its place (contract §1.1). */
export function parameters(ctx: Koa.Context): Map<string, string> {
  const last = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(ctx.querystring)) {
    last.delete(name)
    last.set(name, value)
  }
  return last
}

/** The last value given for a query parameter; undefined if there is none (contract §1.1). */
export function parameter(ctx: Koa.Context, name: string): string | undefined {
  const value = ctx.query[name]
  return Array.isArray(value) ? value.at(-1) : value
}
