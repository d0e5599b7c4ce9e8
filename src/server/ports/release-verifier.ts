/** Whose signature counts: the `Issuer` extension of the certificate and its subject alternative name, both exactly. */
export interface ReleaseSigner {
  readonly issuer: string
  /** `{version}` in it stands for the version of the release. */
  readonly identity: string
}

/** One architecture of a release, as it came. */
export interface JudgedArtifact {
  readonly version: string
  /** SHA-256 of the binary, 64 hex digits in lower case. */
  readonly checksum: string
  /** The Sigstore bundle; undefined where there is none. */
  readonly bundle: Uint8Array | undefined
  /** The binary itself, where it is there: a signature over the bytes needs it. */
  readonly binary?: Uint8Array
}

/** Whether an attestation vouches for the artifact. `reason` is one sentence for people. */
export type Verdict =
  | { readonly verdict: 'verified'; readonly signedBy: string }
  | { readonly verdict: 'unverified'; readonly reason: string }

/** Verifies the attestations of releases. Nothing leaves the machine. */
export interface ReleaseVerifier {
  /** Changes with the signers and the trust root: a verdict holds as long as it is the same. */
  readonly fingerprint: string
  /** Never rejects because of what the bundle holds. */
  judge(artifact: JudgedArtifact): Promise<Verdict>
  /** Verifies a signature over a document, such as the index of releases, by one of the signers. */
  judgeDocument(document: Uint8Array, bundle: Uint8Array): Promise<Verdict>
}
