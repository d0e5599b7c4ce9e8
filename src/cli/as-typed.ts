import type { Io } from './io.ts'

/** `ctl nodes list` in a hint, but not `npx ctl …` nor "a ctl server". */
const COMMAND = /(?<!npx |[\w./-])ctl (?=[a-z<-])(?!servers?\b)/g

/** Commands in a text as this process was started: with `npx` in front where npm found it in a checkout or its cache. */
export function asTyped(text: string, { env }: Io): string {
  const isNpx = env['npm_command'] === 'exec' && env['npm_lifecycle_event'] === 'npx'
  return isNpx ? text.replaceAll(COMMAND, 'npx ctl ') : text
}
