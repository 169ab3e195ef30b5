// The form of an MCP server on the card of the call: all its fields at once, accepted, declined or cancelled.
import { parseObject } from '../../base/json/outsideJson.ts';
import { useId, useState } from 'preact/hooks';
import type { FormField, FormValue } from '../../protocol/page/form.ts';
import { formStrings as strings } from './formStrings.ts';
import { visibleText } from '../render/visibleText.ts';

const LIMIT = 10_000;
/** More options are shown as a drop-down list. */
const MOST_RADIOS = 5;

type Values = Readonly<Record<string, FormValue | null>>;

interface FormProperties {
  readonly fields: readonly FormField[];
  readonly sent: boolean;
  /** The class of the button that submits. */
  readonly main: string;
  /** The answer as the protocol writes it. */
  readonly post: (answer: string) => void;
}

export function FormFields({ fields, sent, main, post }: FormProperties) {
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(fields.map((field) => [field.name, field.default ?? emptyOf(field)])),
  );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!sent) post(JSON.stringify(values));
  };
  return (
    // The browser checks what it can, and shows it at the field; the host checks everything.
    <form class="question-form" onSubmit={submit}>
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={values[field.name] ?? null}
          sent={sent}
          set={(value) => setValues({ ...values, [field.name]: value })}
        />
      ))}
      <div class="approval-buttons">
        <button type="submit" class={main} aria-disabled={sent}>
          {strings.submit}
        </button>
        <button
          type="button"
          class="secondary"
          aria-disabled={sent}
          title={strings.declineTitle}
          onClick={() => post('')}
        >
          {strings.decline}
        </button>
        <button
          type="button"
          class="secondary"
          aria-disabled={sent}
          title={strings.cancelTitle}
          onClick={() => post('cancel')}
        >
          {strings.cancel}
        </button>
      </div>
    </form>
  );
}

interface FieldProperties {
  readonly field: FormField;
  readonly value: FormValue | null;
  readonly sent: boolean;
  readonly set: (value: FormValue | null) => void;
}

function Field(properties: FieldProperties) {
  const { field } = properties;
  const id = useId();
  const label = visibleText(field.label);
  const about = field.about === undefined ? '' : visibleText(field.about);
  const isGroup = field.type === 'choices' || (field.type === 'choice' && isShort(field));
  const optional = !field.required && field.type !== 'boolean' && <span class="quiet"> ({strings.optional})</span>;
  const describedBy = about === '' ? {} : { 'aria-describedby': `${id}-about` };
  const note = about !== '' && (
    <span id={`${id}-about`} class="form-about quiet">
      {about}
    </span>
  );
  if (isGroup) {
    return (
      <fieldset class="form-field" {...describedBy}>
        <legend class="form-label">
          {label}
          {optional}
        </legend>
        {note}
        <Options {...properties} />
      </fieldset>
    );
  }
  if (field.type === 'boolean') {
    return (
      <div class="form-field">
        <label class="option">
          <input
            type="checkbox"
            checked={properties.value === true}
            disabled={properties.sent}
            {...describedBy}
            onChange={(event) => properties.set(event.currentTarget.checked)}
          />
          <span class="form-label">{label}</span>
        </label>
        {note}
      </div>
    );
  }
  return (
    <div class="form-field">
      <label class="form-label" for={id}>
        {label}
        {optional}
      </label>
      {note}
      <Input {...properties} id={id} describedBy={describedBy} />
    </div>
  );
}

function Input({
  field,
  value,
  sent,
  set,
  id,
  describedBy,
}: FieldProperties & { readonly id: string; readonly describedBy: object }) {
  const { type, least, most, required, options = [] } = field;
  const common = { id, required, class: 'modify-text form-input', ...describedBy };
  if (type === 'choice') {
    const chosen = typeof value === 'string' ? value : '';
    return (
      <select
        {...common}
        value={chosen}
        disabled={sent}
        onChange={({ currentTarget }) => set(currentTarget.value === '' ? null : currentTarget.value)}
      >
        {(!required || chosen === '') && <option value="">{strings.choose}</option>}
        {options.map((option) => (
          <option value={option.value} key={option.value}>
            {visibleText(option.label)}
          </option>
        ))}
      </select>
    );
  }
  if (type === 'text') {
    const text = typeof value === 'string' ? value : '';
    return (
      <input
        {...common}
        // The types of JSX allow only one type of input at a time.
        {...({ type: INPUT_TYPES[field.format ?? 'text'] } as object)}
        value={text}
        readOnly={sent}
        minLength={least}
        maxLength={Math.min(most ?? LIMIT, LIMIT)}
        onInput={({ currentTarget }) => set(currentTarget.value === '' ? null : currentTarget.value)}
      />
    );
  }
  return (
    <input
      {...common}
      type="number"
      step={type === 'integer' ? 1 : 'any'}
      value={typeof value === 'number' ? value : ''}
      readOnly={sent}
      min={least}
      max={most}
      onInput={({ currentTarget }) => set(currentTarget.value === '' ? null : currentTarget.valueAsNumber)}
    />
  );
}

const INPUT_TYPES = { text: 'text', email: 'email', uri: 'url', date: 'date', 'date-time': 'text' } as const;

function Options({ field, value, sent, set }: FieldProperties) {
  const name = useId();
  const several = field.type === 'choices';
  const chosen = [value ?? []].flat();
  const choose = (option: string, on: boolean) => {
    if (!several) {
      set(option);
      return;
    }
    const all = (field.options ?? []).map((one) => one.value);
    set(all.filter((one) => (one === option ? on : chosen.includes(one))));
  };
  return (
    <div class="options">
      {field.options?.map((option) => (
        <label class="option" key={option.value}>
          <input
            type={several ? 'checkbox' : 'radio'}
            name={name}
            checked={chosen.includes(option.value)}
            disabled={sent}
            required={!several && field.required}
            onChange={(event) => choose(option.value, event.currentTarget.checked)}
          />
          <span>{visibleText(option.label)}</span>
        </label>
      ))}
    </div>
  );
}

/** The values of a form that was answered. */
export function FilledForm({ fields, answer }: { readonly fields: readonly FormField[]; readonly answer: string }) {
  const given = parseObject(answer);
  if (given === undefined) return <p class="quiet">{answer === 'cancel' ? strings.cancelled : strings.declined}</p>;
  return (
    <dl class="form-answers">
      {fields.map((field) => (
        <div key={field.name}>
          <dt>{visibleText(field.label)}</dt>
          <dd>{describeValue(field, Object.hasOwn(given, field.name) ? given[field.name] : field.default)}</dd>
        </div>
      ))}
    </dl>
  );
}

function describeValue({ options = [] }: FormField, value: unknown): string {
  if (typeof value === 'boolean') return value ? strings.yes : strings.no;
  const labels = [value ?? []]
    .flat()
    .map(
      (one) =>
        options.find((option) => option.value === one)?.label ??
        (typeof one === 'string' || typeof one === 'number' ? String(one) : ''),
    );
  return labels.length === 0 || labels.join('') === '' ? '–' : visibleText(labels.join(', '));
}

function isShort({ options = [] }: FormField): boolean {
  return options.length <= MOST_RADIOS;
}

function emptyOf({ type }: FormField): FormValue | null {
  if (type === 'boolean') return false;
  return type === 'choices' ? [] : null;
}
