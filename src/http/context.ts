import type Koa from 'koa'
import type { RouterContext } from '@koa/router'
import type { Actor } from '../service/actor.ts'
import type { Domain } from '../service/domains.ts'
import type { System } from '../system.ts'

/** What the middleware in front of a handler has found out. */
export interface State {
  system: System
  requestId: string
  /** The resource's path as the router knows it, for the log. */
  route?: string
  /** Set behind `authenticate`. */
  actor: Actor
  /** The domain named in the path; set behind `authenticateForDomain`. */
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

/** Answers without body. */
export function answerEmpty(ctx: Koa.Context, status: number): void {
  ctx.body = status === 204 ? null : ''
  ctx.status = status
  ctx.remove('Content-Type')
}

/** The last value given for a query parameter; undefined if there is none (contract §1.1). */
export function parameter(ctx: Koa.Context, name: string): string | undefined {
  const value = ctx.query[name]
  return Array.isArray(value) ? value.at(-1) : value
}
