//! Languages: whether a model that reads English can read a text.

/// Characters at the beginning of a text that tell its language.
const READ_CHARS: usize = 2_000;

/// Letters that a text needs, so that its script tells its language.
const LETTERS_MIN: usize = 12;

/// Share of letters outside the Latin script from which on a text is not English.
const FOREIGN_SHARE_MIN: f64 = 0.3;

/// Frequent words of other languages that a text needs, more than those of English.
const FOREIGN_WORDS_MIN: usize = 3;

/// Frequent words of English that are none of the others.
const ENGLISH: &str =
    "the and is are was of to that with for this not have has it be by from which when";

/// Frequent words of German, Dutch, French, Spanish, Portuguese, Italian, Swedish, Danish, Norwegian, Polish, Czech,
/// Turkish, Indonesian and Vietnamese that English texts do not have.
const FOREIGN: &str = "der das und ist nicht ein eine wir auf für wird mit den dem sich auch werden bei nach \
    het een niet van voor zijn wordt naar deze ook \
    le les des est une dans pour pas que qui avec sur nous sont du et cette \
    el los las una por para con del como pero está más \
    não uma com são dos das mais foi pelo \
    il di che non della sono per anche gli nel più \
    och att det som inte är på av för den ikke og er til på vi har med \
    nie jest się że na jak do przez które \
    je se že na není jsou pro který \
    ve bir bu için değil olarak \
    yang dan tidak untuk dengan ini dari \
    không là và của cho được này";

/// Whether a text is in another language than English, as far as its letters and frequent words tell.
#[must_use]
pub fn is_foreign(text: &str) -> bool {
    let end = text.char_indices().nth(READ_CHARS).map_or(text.len(), |(end, _)| end);
    let text = text[..end].to_lowercase();
    let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
    let foreign = text.chars().filter(|letter| letter.is_alphabetic() && !is_latin(*letter));
    // Few letters of Han say what many Latin ones do.
    if letters >= LETTERS_MIN && foreign.count() as f64 >= FOREIGN_SHARE_MIN * letters as f64 {
        return true;
    }
    let words =
        || text.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty());
    let among =
        |list: &str| words().filter(|word| list.split(' ').any(|other| other == *word)).count();
    let foreign = among(FOREIGN);
    foreign >= FOREIGN_WORDS_MIN && foreign > 2 * among(ENGLISH)
}

fn is_latin(letter: char) -> bool {
    // Basic Latin to Latin Extended-B, with the signs of pronunciation and of Vietnamese.
    matches!(letter, '\0'..='\u{2af}' | '\u{1e00}'..='\u{1eff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_another_language_is_told_from_english() {
        let foreign = [
            "Der Server wird nicht neu gestartet, wir warten auf die Freigabe.",
            "支付服务重试三次，然后放弃并写入死信队列。",
            "決済サービスは三回リトライしてから諦めます。",
            "결제 서비스는 세 번 재시도한 뒤 포기합니다.",
            "Le service de paiement est redémarré par les équipes dans la nuit.",
            "El servicio de pagos no está listo para los clientes del norte.",
            "O serviço não foi aprovado pelo time, mas uma cópia são dos testes.",
            "Платёжный сервис повторяет запрос три раза.",
            "De dienst wordt niet herstart voor een update van het systeem.",
            "خدمة الدفع تعيد المحاولة ثلاث مرات",
            "Tjänsten är inte klar och det är något som vi väntar på.",
            "Serwis nie jest gotowy, że się nie da tego zrobić na czas.",
        ];
        for text in foreign {
            assert!(is_foreign(text), "{text}");
        }
        let english = [
            "The payment service retries three times, and gives up.",
            "Call InvoiceAssembler.addCharge() with des, les and que as codes.",
            "fn main() { let el = dom.query(\"los\"); }",
            "Rue de la Paix 5 is the address of the café in the contract.",
            "curl -s http://127.0.0.1:7077/v1/memories -H 'X: 1'",
            "The π value and the Δ of α are in the table of the report.",
            "rm -rf target/ && cargo build",
            "Müller & Söhne pay on the 5th; call Frau Oelze.",
            "VPN down. DNS ok. MTU 1380!",
            "",
        ];
        for text in english {
            assert!(!is_foreign(text), "{text}");
        }
    }
}
