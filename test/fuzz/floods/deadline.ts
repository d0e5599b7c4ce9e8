/** The value of a promise, or an Error with that text once so much time has passed. */
export async function deadline<T>(value: Promise<T>, ms: number, text: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${text} within ${ms / 1000} s`)), ms)
  })
  try {
    return await Promise.race([value, late])
  } finally {
    clearTimeout(timer)
  }
}
