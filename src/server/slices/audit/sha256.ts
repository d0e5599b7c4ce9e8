import { hash } from 'node:crypto'
import type { Sha256 } from '../../../shared/audit/chain.ts'

/** SHA-256 by Node's `crypto`. */
export const sha256: Sha256 = (text) => hash('sha256', text)
