/** Why a step of a test failed, in a sentence for administrators. */
export class StepFailure extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StepFailure'
  }
}
