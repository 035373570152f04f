using System;
using System.Collections.Generic;
using Acme.Money;

namespace Acme.Billing;

/// <summary>One position of an invoice.</summary>
public record Line(string Article, decimal Price);

public interface IPayable
{
    decimal Total { get; }

    void Pay(Account from);
}

/// <summary>
/// What a customer owes.
/// </summary>
[Serializable]
public class Invoice : Document, IPayable
{
    private readonly List<Line> _lines = new();

    public event EventHandler? Paid;

    public Invoice(Customer customer) : base(customer.Name)
    {
        Customer = customer;
    }

    public Customer Customer { get; }

    public decimal Total => Sum(_lines);

    /// <summary>Add a position.</summary>
    [Obsolete("use AddAll")]
    public void Add(Line line)
    {
        _lines.Add(line);
    }

    public void Pay(Account from) => from.Withdraw<Invoice>(Total);

    private static decimal Sum(IEnumerable<Line> lines)
    {
        decimal total = 0;
        foreach (var line in lines)
        {
            total += line.Price;
        }
        return total;
    }
}

public enum State { Open, Paid }

public delegate void Changed(Invoice invoice);
