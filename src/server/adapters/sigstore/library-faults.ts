import { VerificationError } from '@sigstore/verify'

type Code = VerificationError['code']

interface Fault {
  readonly codes: readonly Code[]
  /** What the message, or that of its cause, matches; several faults share a code. */
  readonly message?: RegExp
  readonly reason: string
}

/** The first that fits counts. */
const FAULTS: readonly Fault[] = [
  {
    codes: ['TIMESTAMP_ERROR'],
    message: /^expected \d+ timestamps/,
    reason: 'Nothing proves when it was signed: the log entry has no signed time, and there is no timestamp.',
  },
  {
    codes: ['TIMESTAMP_ERROR'],
    reason: 'A timestamp is not from a trusted authority, is for another signature, or is repeated.',
  },
  { codes: ['CERTIFICATE_ERROR'], message: /SCT/, reason: 'No trusted certificate log has recorded the certificate.' },
  {
    codes: ['CERTIFICATE_ERROR'],
    message: /not valid or expired/,
    reason: 'The certificate was not valid when the signature was made.',
  },
  { codes: ['CERTIFICATE_ERROR'], reason: 'The certificate was not issued by a trusted authority.' },
  {
    codes: ['TLOG_BODY_ERROR'],
    reason: 'The entry of the transparency log is for another signature or another content.',
  },
  {
    codes: ['TLOG_INCLUSION_PROMISE_ERROR', 'TLOG_INCLUSION_PROOF_ERROR', 'TLOG_MISSING_INCLUSION_ERROR'],
    reason: 'No trusted transparency log has signed the log entry.',
  },
  { codes: ['SIGNATURE_ERROR'], reason: 'The signature does not match what was signed.' },
]

/** The sentence for an error of the library. Anything that is not one of its own is due to malformed material. */
export function reasonOf(error: unknown): string {
  const known = error instanceof VerificationError ? FAULTS.find((fault) => fits(fault, error)) : undefined
  return known?.reason ?? 'A certificate, timestamp or log entry in the bundle is malformed.'
}

function fits({ codes, message }: Fault, error: VerificationError): boolean {
  if (!codes.includes(error.code)) return false
  const { cause } = error
  const words = cause instanceof Error ? `${error.message}\n${cause.message}` : error.message
  return message === undefined || message.test(words)
}
