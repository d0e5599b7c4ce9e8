import { fileURLToPath } from 'node:url'

/** The checkout's directory. */
export const root = fileURLToPath(new URL('../..', import.meta.url))
