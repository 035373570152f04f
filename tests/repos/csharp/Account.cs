namespace Acme.Money
{
    public struct Account
    {
        public decimal Balance;

        public void Withdraw<T>(decimal amount)
        {
            if (amount > Balance) throw new InvalidOperationException();
            Balance -= amount;
        }
    }
}
