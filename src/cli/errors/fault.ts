/** What to do about a fault of ctl itself. */
export const REPORT = 'Please report it to the maintainers of ctl, with the command that you typed.'

/** A fault of ctl itself in one sentence, and where in the code it is. */
export function faultOf(error: unknown): { readonly sentence: string; readonly stack: readonly string[] } {
  if (!(error instanceof Error)) return { sentence: `this is a fault in ctl: ${String(error)}`, stack: [] }
  const [message = ''] = error.message.split('\n')
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return { sentence: `this is a fault in ctl: ${message}`, stack: frames.slice(0, 6).map((line) => line.trim()) }
}
