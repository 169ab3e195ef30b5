// Secrets that are recognized by their own form, whatever precedes them.

/** A position in the text, from the first character to the one after the last. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** Beginnings that nothing else has. */
const DISTINCT = [
  ...[
    'gh[pousr]_',
    'github_pat_',
    'gl(?:pat|dt|rt|ptt|cbt|soat|oas|ft|imt|agent|sa|c)[-_]',
    'GR1348941',
    'xox[abceoprs]-',
    'xapp-',
  ],
  ...[
    'sk-',
    '[sr]k_(?:live|test|prod)_',
    'whsec_',
    'dop_v1_',
    'do[or]_v1_',
    'shp(?:at|ca|pa|ss|tka)_',
    'sq0[a-z]{3}-',
    'ya29\\.',
    'GOCSPX-',
  ],
  ...[
    'AKIA',
    'ASIA',
    'AIza',
    'ABSK',
    'LTAI',
    'AKID',
    'lin_(?:api|oauth)_',
    'hv[sbr]\\.',
    'dp\\.(?:pt|st|ct|sa|scim|audit)\\.',
    'FlyV1-',
  ],
  ...[
    'sbp_',
    'sb_secret_',
    'pscale_(?:tkn|pw|oauth)_',
    'PMAK-',
    'NR(?:AK|II|IQ|JS|RA|SP)-',
    'sntry[su]_',
    'dckr_[po]at_',
    'fig[dou]_',
    'pplx-',
  ],
  ...[
    'tskey-',
    'nvapi-',
    'rubygems_',
    'xkeysib-',
    'xsmtpsib-',
    'AT(?:ATT|CTT|BB|OA)3?x',
    'HRKU-',
    'lsv2_(?:pt|sk)_',
    'CCI(?:PAT|PRJ)_',
    'bk(?:ua|at|ct)_',
  ],
  ...[
    'tvly-',
    'dt0[cs]\\d\\d\\.',
    'AGE-SECRET-KEY-1',
    'AGE-PLUGIN-',
    'CFPAT-',
    'shippo_(?:live|test)_',
    'pcsk_',
    'duffel_(?:live|test)_',
    'FLWSECK',
    'EZ[AT]K',
  ],
  ...[
    'ops_eyJ',
    'access-(?:production|sandbox)-',
    'CLOJARS_',
    'rdme_',
    'tfp_',
    's-s4t2(?:ud|af)-',
    'signkey-',
    'zpka_',
    'cfut_',
    'ico-',
    'aio_',
  ],
];
/** Beginnings of ordinary words too, so that many letters and digits must follow. */
const SHORT = [
  ...[
    'npm_',
    'hf_',
    'gsk_',
    'r8_',
    'rnd_',
    'nfp_',
    'sgp_',
    'sq[apu]_',
    'pul-',
    'xai-',
    'secret_',
    'EAA',
    'ntn_',
    'fo1_',
    'fm[12]r?_',
    're_',
    'fc-',
    'fw_',
  ],
  ...['e2b_', 'pnu_', 'vcp_', 'oy2', 'cio', 'IQoJb3JpZ2lu', 'FwoG'],
];

const SHAPES: readonly RegExp[] = [
  new RegExp(`(?:${DISTINCT.join('|')})(?=[\\w.-]{0,80}?\\d)[\\w-]{8,}(?:\\.[\\w-]{20,})*`, 'y'),
  new RegExp(`(?:${SHORT.join('|')})(?=[A-Za-z]{0,40}\\d)[A-Za-z\\d]{20}[\\w-]*`, 'y'),
  /(?:sl\.|pypi-|1\/\/0)(?=[A-Za-z_-]{0,40}\d)[\w-]{30,}/y,
  /SG\.[\w-]{8,}\.[\w-]{8,}/y,
  /eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/y,
  /SK[\da-f]{32}(?![\w-])/y,
  /(?:key-|dapi)[\da-f]{32}(?:-\d)?(?![\w-])/y,
  /[\da-f]{32}-us\d{1,2}(?![\w-])/y,
  /\d{8,10}:AA[\w-]{30,}/y,
  /(bot)\d{8,10}:AA[\w-]{30,}/y,
  /[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,}/y,
  /[A-Za-z\d]{14}\.atlasv1\.[\w-]{40,}/y,
  /pat[A-Za-z\d]{14}\.[\da-f]{64}/y,
  /[\w~.-]{3}8Q~[\w.~-]{31,40}/y,
  /re_[A-Za-z\d]{8}_[A-Za-z\d]{20,}/y,
  /(hooks\.slack\.com\/(?:services|workflows|triggers)\/)[\w/-]{8,}/y,
  /(discord(?:app)?\.com\/api\/webhooks\/\d{6,}\/)[\w-]{20,}/y,
  /(webhook\.office\.com\/webhookb2\/)[\w@/-]{20,}/y,
];
/** Bounds the work for a word of many parts. */
const MOST_PARTS = 20;

/** The first such secret in the word from `start` to `end`. It may continue behind the word. */
export function findToken(text: string, start: number, end: number): TextRange | undefined {
  let at = start;
  for (let part = 0; part < MOST_PARTS && at < end; part += 1) {
    for (const shape of SHAPES) {
      shape.lastIndex = at;
      const found = shape.exec(text);
      if (found !== null) return { start: at + (found[1]?.length ?? 0), end: at + found[0].length };
    }
    while (at < end && /[A-Za-z\d]/.test(text.charAt(at))) at += 1;
    while (at < end && !/[A-Za-z\d]/.test(text.charAt(at))) at += 1;
  }
  return undefined;
}
