/**
 * Does the steps one after the other, also after one has failed: what one part of the machine refuses must not keep the others,
 * such as the tunnel of a node that was revoked.
 *
 * @throws the first failure, at the end.
 */
export async function doEach(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const done: Promise<void>[] = []
  for (const step of steps) {
    const running = step()
    done.push(running)
    // The end has its failure.
    await running.catch(() => undefined)
  }
  await Promise.all(done)
}
