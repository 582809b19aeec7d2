import { done, missed, T, unfinished } from './ending.ts';

export const ITALIAN = [
  ...unfinished(
    [
      'denied',
      `Non scrivo ${T} perché due test falliscono.`,
      `Niente ${T} per ora.`,
      `Il lavoro non è COMPLETE.`,
      `Scrivere ${T} adesso sarebbe falso.`,
    ],
    [
      'to come',
      `Chiuderò con ${T}`,
      `Domani potrò scrivere ${T}.`,
      `Manca la documentazione, poi ${T}`,
      `Appena passa la build dirò ${T}.`,
    ],
    [
      'on a condition',
      `Se tutto passa, risponderò: ${T}`,
      `A migrazione finita l'ultima riga sarà:\n\n${T}`,
      `Solo dopo la revisione del gruppo potrò scrivere\n${T}`,
    ],
    ['a question', `Devo scrivere ${T}?`, `È COMPLETE?`, `Possiamo dirlo finito? COMPLETE?`],
    [
      'quoted',
      `La consegna dice "${T}".`,
      `“${T}”`,
      `> ${T}\n\nQuesto è ciò che serve; non ci siamo ancora.`,
      `Lei ha scritto:\n> finire con\n${T}`,
    ],
    [
      'code',
      `La riga è \`${T}\`.`,
      `La riga è:\n\n      ${T}`,
      `\`\`\`\`md\n\`\`\`\nnpm test\n\`\`\`\n${T}\n\`\`\`\``,
      `Formato: \`\`\`\n${T}`,
    ],
    ['a field', `Stato: non ancora COMPLETE`, `Fase 1 COMPLETE, fase 2 aperta`, `Obiettivo: ${T}`],
    [
      'an abbreviation before it',
      `Una riga finale, ad es. ${T}`,
      `Test, documenti, ecc. ${T}`,
      `Si veda pag. ${T}`,
      `Il resto, cfr. ${T}`,
    ],
    [
      'taken back behind it',
      `${T}\n\nAspetti, un test fallisce ancora.`,
      `${T}\n\nNota: il rilascio non è fatto.`,
      `Pronto.\n\nCOMPLETE\n\nAnzi no, mancano le traduzioni.`,
    ],
    ['an open box behind it', `${T}\n\n- [  ] aggiornare il README`],
    ['a numbered line', `Resta: 1. test 2. documenti 3. ${T}`],
    ['a list of states', `DA FARE\nIN CORSO\nCOMPLETE`],
    [
      'half a sentence',
      `Non sono ancora in grado di affermare che il lavoro sia\n${T}`,
      `Lo stato di questa attività non può dirsi\nCOMPLETE`,
    ],
  ),
  ...done(
    [
      'on the last line',
      `Tutti i test passano.\n\n${T}`,
      `Ho corretto l'errore e aggiornato la guida.\n\n***${T}***`,
      `Finito!\n${T}`,
      `## Riepilogo\n- corretto\n- provato\n\n${T}`,
      `Nulla in sospeso.\n\n${T} ✅`,
    ],
    [
      'behind a sentence',
      `È tutto a posto. ${T}`,
      `Funziona tutto! ${T}`,
      `Fallisce qualcosa? No. ${T}`,
      `La suite ha impiegato 4,5 s. ${T}`,
      `Risolto con il piano B. ${T}`,
    ],
    [
      'bare',
      `La migrazione è finita.\n\nCOMPLETE`,
      `Tutto verificato.\nCOMPLETE!`,
      `# Fine\nCOMPLETE`,
      `Consegnato. 🚀\n\nCOMPLETE`,
    ],
    ['after a mention', `Mi è stato chiesto ${T} alla fine. Tutto passa.\n\n${T}`],
  ),
  ...missed(
    ['a summary behind it', `${T}\n\nRiepilogo: tre file modificati.`],
    ['a bare closing sentence', `Tutti i test passano. COMPLETE`, `È finita! COMPLETE`],
    ['in inline code', `Tutto passa.\n\n\`${T}\``],
  ),
];
