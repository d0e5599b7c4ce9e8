import type { Slice } from '../../http/slice.ts'
import { createConsolePages, type ConsoleFiles } from './console-pages.ts'

export interface ConsolePorts {
  readonly consoleFiles: ConsoleFiles
}

/** The console at `/v1/console/`. */
export function createSlice({ consoleFiles }: ConsolePorts): Slice {
  return { handlers: {}, pages: createConsolePages(consoleFiles) }
}
