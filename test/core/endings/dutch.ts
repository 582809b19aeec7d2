import { done, missed, T, unfinished } from './ending.ts';

export const DUTCH = [
  ...unfinished(
    [
      'denied',
      `Ik schrijf nog geen ${T}, want twee tests falen.`,
      `Geen ${T} voorlopig.`,
      `Het werk is niet COMPLETE.`,
      `Nu ${T} zeggen zou niet kloppen.`,
    ],
    [
      'to come',
      `Ik sluit straks af met ${T}`,
      `Morgen kan ik ${T} schrijven.`,
      `Eerst de documentatie, daarna ${T}`,
      `Zodra de build slaagt volgt ${T}.`,
    ],
    [
      'on a condition',
      `Als alles slaagt, antwoord ik: ${T}`,
      `Na de migratie wordt de laatste regel:\n\n${T}`,
      `Pas na de controle door het team schrijf ik\n${T}`,
    ],
    [
      'a question',
      `Moet ik ${T} schrijven?`,
      `Is het COMPLETE?`,
      `Mag ik het klaar noemen? COMPLETE?`,
    ],
    [
      'quoted',
      `De opdracht zegt "${T}".`,
      `'${T}'`,
      `> ${T}\n\nDat wordt gevraagd; zover ben ik nog niet.`,
      `U schreef:\n> eindig met\n${T}`,
    ],
    [
      'code',
      `De regel is \`${T}\`.`,
      `De regel is:\n\n    ${T}`,
      `\`\`\`\nklaar\n${T}`,
      `Vorm: \`\`\`\n${T}\n\`\`\``,
    ],
    ['a field', `Status: nog niet COMPLETE`, `Fase 1 COMPLETE, fase 2 open`, `Doel: ${T}`],
    [
      'an abbreviation before it',
      `Een slotregel, bijv. ${T}`,
      `Tests, documenten, enz. ${T}`,
      `Zie de regel, vgl. ${T}`,
      `Een slotregel, d.w.z. ${T}`,
    ],
    [
      'taken back behind it',
      `${T}\n\nWacht, een test faalt nog.`,
      `${T}\n\nLet op: de uitrol is niet gedaan.`,
      `Klaar.\n\nCOMPLETE\n\nToch niet, de vertalingen ontbreken.`,
    ],
    ['an open box behind it', `${T}\n\n1. [ ] README bijwerken`],
    ['a numbered line', `Nog te doen: 1. tests 2. documenten 3. ${T}`],
    ['a list of states', `OPEN\nBEZIG\nCOMPLETE`],
    [
      'half a sentence',
      `Ik ben nog niet zover dat ik kan zeggen dat het werk klaar is\n${T}`,
      `De toestand van deze taak is nog lang niet\nCOMPLETE`,
    ],
  ),
  ...done(
    [
      'on the last line',
      `Alle tests slagen.\n\n${T}`,
      `Ik heb de fout hersteld en de handleiding bijgewerkt.\n\n_${T}._`,
      `Klaar!\n${T}`,
      `## Overzicht\n- hersteld\n- getest\n\n${T}`,
      `Niets meer open.\n\n☑ ${T}`,
    ],
    [
      'behind a sentence',
      `Alles is gedaan. ${T}`,
      `Het werkt! ${T}`,
      `Faalt er iets? Nee. ${T}`,
      `De suite duurde 40 s. ${T}`,
      `Opgelost met plan B. ${T}`,
    ],
    [
      'bare',
      `De migratie is klaar.\n\nCOMPLETE`,
      `Alles nagekeken.\nCOMPLETE.`,
      `# Einde\nCOMPLETE`,
      `Geleverd. ✨\n\nCOMPLETE`,
    ],
    ['after a mention', `Men vroeg om ${T} aan het einde. Alles slaagt.\n\n${T}`],
  ),
  ...missed(
    ['a summary behind it', `${T}\n\nSamenvatting: drie bestanden gewijzigd.`],
    ['a bare closing sentence', `Alle tests slagen. COMPLETE`, `Gereed! COMPLETE`],
    ['in a table', `Alles slaagt.\n\n| uitkomst |\n|---|\n| ${T} |`],
  ),
];
