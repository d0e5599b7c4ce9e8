import { z } from 'zod'

/** What the secret of a credential has to be for one provider (decisions: Catalogue). */
export interface CredentialSecret {
  readonly schema: z.ZodType<Readonly<Record<string, unknown>>>
  /** The rule as `must …`: what a refusal says. It never quotes the secret, nor its member names. */
  readonly rule: string
}

/** Longest text of one member, in characters; a key in PEM is shorter. */
const TEXT_MAX = 12_288

/** A member that is a secret, or an id beside one: text that is not blank. */
export const SecretText = z
  .string()
  .max(TEXT_MAX)
  .refine((text) => text.trim().length > 0)
