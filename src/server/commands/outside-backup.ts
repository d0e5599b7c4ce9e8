import type { Config } from '../config/config.ts'

type Settings = Pick<Config, 'secretStore' | 'signer' | 'nats' | 'tls'>

/** What no backup contains and the configuration says is in use, one sentence each with what to do. */
export function outsideSentences({ secretStore, signer, nats, tls }: Settings): readonly string[] {
  return [
    ...(secretStore === undefined
      ? []
      : [
          'Not in the backup: the secrets in OpenBao or Vault; bring them back to the time of the backup from its own.',
        ]),
    ...(signer.source === 'transit'
      ? [
          'Not in the backup: the signing keys of the Transit engine; the server needs the same key with all its versions.',
        ]
      : []),
    ...(nats === undefined
      ? []
      : [
          'Not in the backup: the events in JetStream; remove the stream while the servers are stopped, or nodes see a gap and pull their state.',
        ]),
    ...(tls?.kind === 'files' ? [`Not in the backup: the TLS files ${tls.certPath} and ${tls.keyPath}.`] : []),
  ]
}
