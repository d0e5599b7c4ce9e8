import { isByNpx, npxCommand } from '../../shared/invocation.ts'
import type { Io } from '../output/io.ts'

/** `ctl nodes list` in a hint, but not `npx ctl …` nor "a ctl server". */
const COMMAND = /(?<!npx |[\w./-])ctl (?=[a-z<-])(?!servers?\b)/g

/** Commands in a text as this process was started: with `npx` in front where npm found it in a checkout or its cache. */
export function asTyped(text: string, { env }: Io): string {
  return isByNpx(env) ? text.replaceAll(COMMAND, `${npxCommand()} `) : text
}
