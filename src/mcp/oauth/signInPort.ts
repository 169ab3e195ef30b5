// What signing in to a server needs from outside: a store for secrets, a browser, and the callback from it.

/** Secrets of one server. They must not get into files, settings or logs. */
export interface ServerSecrets {
  get(key: string): Promise<string | undefined>;
  /** Undefined removes it. */
  set(key: string, value: string | undefined): Promise<void>;
}

export interface SignIn {
  readonly secrets: ServerSecrets;
  /** The address that the browser returns to. */
  readonly redirectUrl: string;
  /** Whether the user wants to sign in now. Otherwise nothing but the server itself, and where it was signed in before, is asked. */
  isAsked(): boolean;
  /** The address of a public document that describes this client, for authorization servers that support that. */
  readonly metadataUrl?: string;
  /** Opens the page on which the user signs in. False: the user must not be asked now. */
  open(url: URL, state: string): Promise<boolean>;
  /** The parameters of the browser's redirect, once for each page. Undefined: no page was opened, or none came. */
  callback(): Promise<URLSearchParams | undefined>;
}
