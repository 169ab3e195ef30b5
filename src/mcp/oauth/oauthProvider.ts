// Signs in to a server with OAuth 2.1: keeps tokens and the client's registration as secrets, by authorization server,
// and registers nowhere before the user wants to sign in.
import { parseJson } from '../../base/json/outsideJson.ts';
import { randomBytes } from 'node:crypto';
import {
  type OAuthClientInformationContext,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { defined } from '../../base/json/defined.ts';
import { type HttpLaunch } from '../config/launch.ts';
import { type SignIn } from './signInPort.ts';

const CLIENT_NAME = 'Earshot';
const WANTED = 'The user has to sign in.';

/** The keys of the stored secrets. */
const TOKENS = 'tokens';
const CLIENT = 'client';
const VERIFIER = 'verifier';

const SIGN_IN_SECRETS = [TOKENS, CLIENT, VERIFIER] as const;

export interface SignInFlow {
  readonly provider: OAuthClientProvider;
  /** False: the user has never signed in, or has to do it again. */
  hasTokens(): Promise<boolean>;
  /** Whether this authorization server may be asked now: the user signs in, or has signed in there. */
  mayAsk(origin: string): Promise<boolean>;
}

/** The tokens as they are stored, with all hosts that were asked when the user signed in. */
type StoredTokens = StoredOAuthTokens & { issuer?: string; origins?: readonly string[] };

export function createSignInFlow(signIn: SignIn, { oauth }: Pick<HttpLaunch, 'oauth'>): SignInFlow {
  const { secrets, redirectUrl, metadataUrl } = signIn;
  const read = async <T>(key: string): Promise<T | undefined> => {
    return parseJson((await secrets.get(key)) ?? '') as T | undefined;
  };
  const write = (key: string, value: unknown) => secrets.set(key, JSON.stringify(value));
  let state = '';
  /** Kept only during one sign-in: the server may name another authorization server next time. */
  let discovery: OAuthDiscoveryState | undefined;
  const asked = new Set<string>();
  const readTokens = () => read<StoredTokens>(TOKENS);
  const metadata: OAuthClientMetadata = {
    client_name: CLIENT_NAME,
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
    ...(oauth?.scopes !== undefined && { scope: oauth.scopes.join(' ') }),
  };
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: metadata,
    ...(metadataUrl !== undefined && oauth === undefined && { clientMetadataUrl: metadataUrl }),
    state: () => {
      state = randomBytes(24).toString('base64url');
      return state;
    },
    clientInformation: async (context) => {
      if (oauth !== undefined) {
        return {
          client_id: oauth.clientId,
          ...defined({ client_secret: oauth.clientSecret }),
        };
      }
      const known = ofIssuer(await read<StoredOAuthClientInformation & { issuer?: string }>(CLIENT), context);
      // Without it, the library would register a client.
      if (known === undefined && !signIn.isAsked()) throw new UnauthorizedError(WANTED);
      return known;
    },
    saveClientInformation: (information, context) => write(CLIENT, { ...information, ...withIssuer(context) }),
    tokens: async (context) => ofIssuer(await readTokens(), context),
    saveTokens: async (tokens, context) => {
      discovery = undefined;
      const origins = signIn.isAsked() ? [...asked] : originsOf(await readTokens());
      await write(TOKENS, { ...tokens, ...withIssuer(context), origins });
    },
    redirectToAuthorization: async (url) => {
      if (!isWebPage(url)) throw new Error(`The page to sign in at is not on the web: ${url.href.slice(0, 200)}`);
      if (!(await signIn.open(url, state))) throw new UnauthorizedError(WANTED);
    },
    saveCodeVerifier: (verifier) => write(VERIFIER, verifier),
    codeVerifier: async () => (await read<string>(VERIFIER)) ?? '',
    saveDiscoveryState: (discovered) => {
      discovery = discovered;
    },
    discoveryState: () => discovery,
    invalidateCredentials: async (scope) => {
      if (scope === 'all' || scope === 'discovery') discovery = undefined;
      const keys = { all: SIGN_IN_SECRETS, client: [CLIENT], tokens: [TOKENS], verifier: [VERIFIER], discovery: [] };
      for (const key of keys[scope]) await secrets.set(key, undefined);
    },
  };
  return {
    provider,
    hasTokens: async () => (await readTokens()) !== undefined,
    mayAsk: async (origin) => {
      if (!signIn.isAsked()) return originsOf(await readTokens()).includes(origin);
      asked.add(origin);
      return true;
    },
  };
}

/** Tokens of earlier versions have only the issuer. */
function originsOf(tokens: StoredTokens | undefined): readonly string[] {
  const { issuer = '', origins } = tokens ?? {};
  return origins ?? (URL.canParse(issuer) ? [new URL(issuer).origin] : []);
}

/** The server chooses the page, and an address of another kind could start a local program. */
function isWebPage({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname));
}

/** Never sends tokens or registrations of one authorization server to another. */
function ofIssuer<T extends { issuer?: string }>(
  stored: T | undefined,
  context: OAuthClientInformationContext | undefined,
): T | undefined {
  if (stored === undefined || context === undefined || stored.issuer === undefined) return stored;
  return stored.issuer === context.issuer ? stored : undefined;
}

function withIssuer(context: OAuthClientInformationContext | undefined): { issuer?: string } {
  return context === undefined ? {} : { issuer: context.issuer };
}
