/** Where the master key comes from. */
export type MasterKeySource =
  | { readonly kind: 'given'; readonly key: Buffer }
  | { readonly kind: 'file'; readonly path: string }
  /** Generated at the first start, when nothing is sealed yet. */
  | { readonly kind: 'own'; readonly path: string }
  /** For a datastore that ends with the process. */
  | { readonly kind: 'throwaway' }
