/** An error that only HTTP knows, such as a wrong method or media type (contract §2.2). */
export class Refusal extends Error {
  readonly status: number

  constructor(status: number, detail: string) {
    super(detail)
    this.status = status
  }
}
