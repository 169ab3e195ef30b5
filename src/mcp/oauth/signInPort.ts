// What signing in to a server needs from outside: a place for secrets, a browser, and a way back from it.

/** Secrets of one server. Never in files, settings or logs. */
export interface ServerSecrets {
  get(key: string): Promise<string | undefined>;
  /** Undefined removes it. */
  set(key: string, value: string | undefined): Promise<void>;
}

export interface SignIn {
  readonly secrets: ServerSecrets;
  /** Where the browser returns to. */
  readonly redirectUrl: string;
  /** A document on the web that describes this client, for authorization servers that read it; absent: none. */
  readonly metadataUrl?: string;
  /** Shows the page on which the user signs in. False: the user is not to be asked now. */
  open(url: URL, state: string): Promise<boolean>;
  /** What the browser came back with, once for each page; undefined: no page was opened, or nobody came back. */
  callback(): Promise<URLSearchParams | undefined>;
}
