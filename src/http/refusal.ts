/** An answer that only HTTP knows: the request cannot be understood as one to the service (contract §2.2). */
export class Refusal extends Error {
  readonly status: number

  constructor(status: number, detail: string) {
    super(detail)
    this.status = status
  }
}
