import { ProblemAnswer } from '../../client/failures.ts'

/** Removes something; what is gone already (404) is removed. */
export async function unlessGone(remove: () => Promise<unknown>): Promise<void> {
  try {
    await remove()
  } catch (error) {
    if (!(error instanceof ProblemAnswer) || error.status !== 404) throw error
  }
}
